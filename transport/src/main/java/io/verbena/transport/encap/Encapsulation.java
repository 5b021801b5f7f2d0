// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.encap;

import io.verbena.wire.Frame;

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
     * Completes a frame: {@code bytes} from the BTH to the padding are written; adds what surrounds them and sets
     * length and addresses.
     */
    void seal(Frame frame, Path path, int bytes);
}
