// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** What not every device has; ask {@link DeviceAttributes#capabilities()}. */
public enum DeviceCapability {
    UNRELIABLE_CONNECTION,
    UNRELIABLE_DATAGRAM,
    MULTICAST,
    SHARED_RECEIVE_QUEUE,
    SHARED_RECEIVE_QUEUE_RESIZE,
    XRC,
    MEMORY_WINDOW_TYPE_1,
    MEMORY_WINDOW_TYPE_2,
    LOCAL_INVALIDATE,
    SEND_WITH_INVALIDATE,
    REREGISTER,
    FLUSH,
    ATOMIC_WRITE,
    COMPLETION_QUEUE_RESIZE,
    COMPLETION_TIMESTAMP,
    SEND_QUEUE_DRAIN
}
