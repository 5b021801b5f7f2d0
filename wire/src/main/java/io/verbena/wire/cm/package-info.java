// SPDX-License-Identifier: Apache-2.0
/**
 * Messages of the InfiniBand connection manager: management datagrams of 256 bytes (IBTA volume 1, 12.6 and 13.4), and
 * what IP puts into their private data (annex A11). Accessors take the offset of the whole datagram.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.wire.cm;
