// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.encap;

import io.verbena.wire.Frame;
import java.lang.foreign.MemorySegment;

/**
 * What surrounds a transport packet on one kind of wire. The transport writes from the BTH on and never asks which kind
 * it is.
 */
public interface Encapsulation {
    /** Bytes of a frame before the BTH. */
    int headroom();

    /** Bytes of a frame after the padded payload. */
    int trailer();

    /** Whether the outer headers and the checksum of a received frame are good. */
    boolean open(Frame frame);

    /**
     * Writes what a datagram's receiver is told of its way: 40 bytes, a GRH or IPv6 header, or an IPv4 header in the
     * last 20 of them (IBTA volume 1, annex A17.9.3).
     */
    void globalRouteHeader(Frame frame, MemorySegment out, long offset);

    /**
     * Completes a frame: {@code bytes} from the BTH to the padding are written; adds what surrounds them and sets
     * length and addresses.
     */
    void seal(Frame frame, Path path, int bytes);
}
