// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

/** Looks at every frame that is sent, and may change its fate; for directed tests. */
@FunctionalInterface
public interface Interceptor {
    /** The frame is valid during the call only. */
    void onFrame(SimFrame frame);
}
