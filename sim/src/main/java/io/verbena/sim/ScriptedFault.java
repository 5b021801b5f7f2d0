// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.wire.ib.Opcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
        List<String> parts = List.of(text.strip().split(":", 4));
        try {
            String way = parts.size() < 4 ? "*>*" : parts.get(3);
            List<String> hosts = new ArrayList<>(List.of(way.split(">", 2)));
            if (hosts.size() < 2) {
                hosts.add("*");
            }
            return new ScriptedFault(
                    Action.valueOf(parts.get(0).toUpperCase(Locale.ROOT)),
                    Integer.parseInt(parts.get(1)),
                    opcode(parts.get(2).toUpperCase(Locale.ROOT)),
                    hosts.get(0),
                    hosts.get(1));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not like drop:3:RC_ACKNOWLEDGE:b>a (drop, duplicate, delay or corrupt; which"
                            + " one; an opcode or any; the way)",
                    e);
        }
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
