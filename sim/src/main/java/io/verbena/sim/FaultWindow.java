// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fault that lasts for a while. Times are nanoseconds from the start of the world. Hosts are named {@code a},
 * {@code b}, ... in the order in which their devices were opened; {@code *} is any.
 *
 * @param from the host whose frames it hits; of a fault of one host, that host
 * @param to the host that these frames go to; {@code *} for a fault of one host
 * @param bothWays whether frames from {@code to} to {@code from} are hit too
 * @param value bytes of the largest IP packet that gets through ({@link Kind#BLACK_HOLE}), nanoseconds between frames
 *     ({@link Kind#SLOW}), nanoseconds to jump ahead ({@link Kind#CLOCK_JUMP})
 */
public record FaultWindow(Kind kind, long fromNs, long toNs, String from, String to, boolean bothWays, long value) {
    private static final Pattern FORM =
            Pattern.compile("([0-9.]+[a-z]+)(?:-([0-9.]+[a-z]+))?(?:=([0-9a-z.]+))?(?::([a-z*])(?:(<?>)([a-z*]))?)?");
    private static final Pattern BYTES = Pattern.compile("\\d{1,9}");

    /** What a window does. */
    public enum Kind {
        /** Frames between two hosts are lost; one way with {@code a>b}, both with {@code a<>b}. */
        PARTITION(true, false),
        /** A host is cut off from all. */
        LINK_DOWN(false, false),
        /** Packets above a size vanish without a word. */
        BLACK_HOLE(true, true),
        /** A host takes in frames with a pause after each. */
        SLOW(false, true),
        /** The clock of a host jumps ahead at the start of the window, as after a pause of its machine. */
        CLOCK_JUMP(false, true);

        /** Whether it hits frames that go a way, rather than a host. */
        private final boolean hitsWays;
        /** Whether it has a value. */
        private final boolean valued;

        Kind(boolean hitsWays, boolean valued) {
            this.hitsWays = hitsWays;
            this.valued = valued;
        }
    }

    public FaultWindow {
        if (fromNs < 0 || toNs < fromNs) {
            throw new IllegalArgumentException(
                    "a window from " + Durations.format(fromNs) + " to " + Durations.format(toNs));
        }
    }

    /**
     * Parses {@code FROM-TO[=VALUE][:HOST | :A>B | :A<>B]}, such as {@code 10ms-15ms:a>b} and, of a black hole,
     * {@code 0ms-20ms=1500:a}. Without hosts it hits all. A clock jump has a start and a value only:
     * {@code 10ms=500ms:a}.
     */
    public static FaultWindow parse(Kind kind, String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()
                || kind.valued != (matcher.group(3) != null)
                || (kind == Kind.CLOCK_JUMP) == (matcher.group(2) != null)
                || (matcher.group(5) != null && !kind.hitsWays)
                || (kind == Kind.BLACK_HOLE && !BYTES.matcher(matcher.group(3)).matches())) {
            throw new IllegalArgumentException("\"" + text + "\" is not like " + example(kind));
        }
        long start = Durations.parse(matcher.group(1));
        long end = matcher.group(2) == null ? start : Durations.parse(matcher.group(2));
        long value = !kind.valued
                ? 0
                : kind == Kind.BLACK_HOLE ? Long.parseLong(matcher.group(3)) : Durations.parse(matcher.group(3));
        String from = matcher.group(4) == null ? "*" : matcher.group(4);
        String to = matcher.group(6) == null ? "*" : matcher.group(6);
        boolean bothWays = !">".equals(matcher.group(5));
        return new FaultWindow(kind, start, end, from, to, bothWays, value);
    }

    private static String example(Kind kind) {
        return switch (kind) {
            case PARTITION -> "10ms-15ms, 10ms-15ms:a<>b or, one way, 10ms-15ms:a>b";
            case LINK_DOWN -> "10ms-15ms:a";
            case BLACK_HOLE -> "10ms-15ms=1500:a>b (packets above 1500 bytes vanish)";
            case SLOW -> "10ms-15ms=20us:a (20 us for each frame)";
            case CLOCK_JUMP -> "10ms=500ms:a (at 10 ms, 500 ms ahead)";
        };
    }

    boolean active(long sinceStart) {
        return sinceStart >= fromNs && sinceStart < toNs;
    }

    /** Whether a frame that goes this way is hit. */
    boolean hits(String source, String target) {
        return goes(source, target) || (bothWays && goes(target, source));
    }

    private boolean goes(String source, String target) {
        return concerns(source) && (to.equals("*") || to.equals(target));
    }

    boolean concerns(String host) {
        return from.equals("*") || from.equals(host);
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        String when = Durations.format(fromNs) + (kind == Kind.CLOCK_JUMP ? "" : "-" + Durations.format(toNs));
        String what = kind == Kind.BLACK_HOLE
                ? "=" + value
                : kind == Kind.SLOW || kind == Kind.CLOCK_JUMP ? "=" + Durations.format(value) : "";
        String who = from;
        if (kind.hitsWays && (!to.equals("*") || !bothWays)) {
            who += (bothWays ? "<>" : ">") + to;
        }
        return when + what + (who.equals("*") ? "" : ":" + who);
    }
}
