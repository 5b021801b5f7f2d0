// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

/** The times that an RNR NAK can ask a requester to wait (IBTA volume 1, 9.7.5.2.8, table 46). */
public final class RnrTimer {
    private static final int[] MICROSECONDS = {
        655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920, 2_560, 3_840, 5_120, 7_680,
        10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520
    };

    private RnrTimer() {}

    /** Nanoseconds of a 5-bit code. */
    public static long nanoseconds(int code) {
        return MICROSECONDS[code & 31] * 1_000L;
    }
}
