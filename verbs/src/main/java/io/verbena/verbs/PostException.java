// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A list of work requests was taken only in part: those before {@link #firstRefused()} were posted (bad_wr of
 * ibv_post_send).
 */
public final class PostException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int firstRefused;

    public PostException(Reason reason, String message, int firstRefused) {
        super(reason, message);
        this.firstRefused = firstRefused;
    }

    /** Index in the posted list of the first request that was not taken. */
    public int firstRefused() {
        return firstRefused;
    }
}
