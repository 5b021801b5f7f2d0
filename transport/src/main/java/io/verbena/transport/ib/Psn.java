// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

/**
 * Arithmetic on 24-bit packet sequence numbers; comparisons hold within half the number space (IBTA volume 1, 9.7.2).
 */
public final class Psn {
    public static final int MASK = 0xffffff;

    /** The most packets that may be outstanding: beyond it old and new cannot be told apart. */
    public static final int WINDOW_MAX = 1 << 23;

    private Psn() {}

    public static int add(int psn, int packets) {
        return (psn + packets) & MASK;
    }

    /** How far {@code a} is after {@code b}; negative when before. */
    public static int diff(int a, int b) {
        return ((a - b) << 8) >> 8;
    }
}
