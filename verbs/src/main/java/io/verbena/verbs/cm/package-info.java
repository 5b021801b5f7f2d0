// SPDX-License-Identifier: Apache-2.0
/**
 * The connection manager: finds the device that leads to an IP address, and connects queue pairs by address and port,
 * in the shape of librdmacm. {@link Connection} and {@link Listener} are the simple form, {@link ConnectionId} and
 * {@link EventChannel} the one in steps. On RoCE the messages are those of the InfiniBand connection manager (IBTA
 * volume 1, chapter 12 and annex A11), so that the other end may be any program of rdma_cm.
 */
@NullMarked
package io.verbena.verbs.cm;

import org.jspecify.annotations.NullMarked;
