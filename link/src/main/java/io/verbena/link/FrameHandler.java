// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;

/** Takes received frames. */
@FunctionalInterface
public interface FrameHandler {
    /** The frame and its bytes are valid only during the call; the callee may overwrite the bytes. */
    void onFrame(Frame frame);
}
