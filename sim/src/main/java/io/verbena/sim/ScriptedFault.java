// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.wire.ib.Opcode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Something that happens to one frame: "drop the 3rd ACK".
 *
 * @param nth counted from 1 among the frames of this opcode that go this way
 * @param opcode null for any
 * @param from name of the sending host, {@code *} for any
 * @param to name of the receiving host, {@code *} for any
 */
public record ScriptedFault(
        Action action, int nth, @Nullable Opcode opcode, String from, String to) {
    private static final Pattern FORM = Pattern.compile("(\\w+):(\\d+):(\\w+)(?::([a-z*])(?:>([a-z*]))?)?");

    /** What happens. */
    public enum Action {
        DROP,
        DUPLICATE,
        /** Arrives 100 microseconds late, behind others. */
        DELAY,
        CORRUPT
    }

    public ScriptedFault {
        if (nth < 1) {
            throw new IllegalArgumentException("frames are counted from 1, not from " + nth);
        }
    }

    /**
     * Parses {@code ACTION:N:OPCODE[:A>B]}, such as {@code drop:3:RC_ACKNOWLEDGE:b>a}; the opcode may be {@code any},
     * and {@code ack} is short for RC_ACKNOWLEDGE.
     */
    public static ScriptedFault parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        try {
            if (matcher.matches()) {
                return new ScriptedFault(
                        Action.valueOf(matcher.group(1).toUpperCase(Locale.ROOT)),
                        Integer.parseInt(matcher.group(2)),
                        opcode(matcher.group(3).toUpperCase(Locale.ROOT)),
                        matcher.group(4) == null ? "*" : matcher.group(4),
                        matcher.group(5) == null ? "*" : matcher.group(5));
            }
        } catch (IllegalArgumentException e) {
            // No such action or opcode, or a number that is none: told below.
        }
        throw new IllegalArgumentException(
                "\"" + text + "\" is not like drop:3:RC_ACKNOWLEDGE:b>a (drop, duplicate, delay or corrupt; which"
                        + " one; an opcode or any; the way)");
    }

    private static @Nullable Opcode opcode(String name) {
        return switch (name) {
            case "ANY" -> null;
            case "ACK" -> Opcode.RC_ACKNOWLEDGE;
            default -> Opcode.valueOf(name);
        };
    }

    boolean matches(@Nullable Opcode seen, String source, String target) {
        return (opcode == null || opcode == seen)
                && (from.equals("*") || from.equals(source))
                && (to.equals("*") || to.equals(target));
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        return action.name().toLowerCase(Locale.ROOT) + ":" + nth + ":" + (opcode == null ? "any" : opcode.name()) + ":"
                + from + ">" + to;
    }
}
