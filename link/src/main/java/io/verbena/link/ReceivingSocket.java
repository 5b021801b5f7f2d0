// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/**
 * A socket that receives what is sent to one address: that of the link, or a multicast group. Linux hands a socket that
 * is bound to a unicast address nothing that is sent to a group.
 */
abstract class ReceivingSocket {
    /**
     * Most that a socket of a group asks for: there can be many, and what their peers send must not take up the memory
     * of the host.
     */
    static final int GROUP_BUFFER_BYTES_MAX = 1 << 20;

    final long high;
    final long low;

    ReceivingSocket(long high, long low) {
        this.high = high;
        this.low = low;
    }

    abstract void close();
}
