// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import org.jspecify.annotations.Nullable;

/**
 * A command cannot do what it was asked to; the message is the one line that the user reads, whatever a peer's words in
 * it contain.
 */
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandFailure(String message) {
        this(message, null);
    }

    public CommandFailure(String message, @Nullable Throwable cause) {
        super(OneLine.of(message), cause);
    }
}
