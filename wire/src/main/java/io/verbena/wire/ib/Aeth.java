// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * ACK Extended Transport Header (IBTA vol 1 ch. 9.3.5).
 *
 * <pre>
 *    +------------+--------------------+
 *  0 | syndrome 8 |  MSN 24            |
 *    +------------+--------------------+
 *
 *  syndrome   bit 7   bits 6..5   bits 4..0             (IBTA vol 1 ch. 9.7.5.2)
 *  ACK        0       00          credit count, 0x1f = credits not used
 *  RNR NAK    0       01          timer code
 *  NAK        0       11          NAK code
 * </pre>
 */
public final class Aeth {
    public static final int BYTES = 4;

    /** Syndrome type of an acknowledgement; the low five bits are credits. */
    public static final int ACK = 0x00;

    /** Syndrome type of receiver-not-ready; the low five bits are a timer code. */
    public static final int RNR_NAK = 0x20;

    /** Syndrome type of a negative acknowledgement; the low five bits say why. */
    public static final int NAK = 0x60;

    /** Credit field of a responder that does no end-to-end flow control (IBTA vol 1 ch. 9.7.7.2). */
    public static final int ACK_UNLIMITED_CREDITS = 0x1f;

    public static final int NAK_PSN_SEQUENCE_ERROR = 0x60;
    public static final int NAK_INVALID_REQUEST = 0x61;
    public static final int NAK_REMOTE_ACCESS_ERROR = 0x62;
    public static final int NAK_REMOTE_OPERATIONAL_ERROR = 0x63;
    public static final int NAK_INVALID_RD_REQUEST = 0x64;

    private static final int TYPE_MASK = 0x60;
    private static final int VALUE_MASK = 0x1f;

    /** IBTA vol 1 ch. 9.7.5.2.8; note that code 0 is the longest. */
    private static final int[] RNR_TIMER_US = {
        655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10_240,
        15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520
    };

    private Aeth() {}

    public static int syndrome(MemorySegment s, long o) {
        return BigEndian.u8(s, o);
    }

    /** Message sequence number: how many requests the responder has completed, modulo 2^24. */
    public static int msn(MemorySegment s, long o) {
        return BigEndian.low24(s, o);
    }

    public static void write(MemorySegment s, long o, int syndrome, int msn) {
        BigEndian.put32(s, o, syndrome << 24 | (msn & 0xffffff));
    }

    public static boolean isAck(int syndrome) {
        return (syndrome & TYPE_MASK) == ACK;
    }

    public static boolean isRnrNak(int syndrome) {
        return (syndrome & TYPE_MASK) == RNR_NAK;
    }

    public static boolean isNak(int syndrome) {
        return (syndrome & TYPE_MASK) == NAK;
    }

    /** The timer code, 0 to 31, of an RNR NAK. */
    public static int rnrTimer(int syndrome) {
        return syndrome & VALUE_MASK;
    }

    /** Microseconds that a timer code, 0 to 31, stands for. */
    public static int rnrTimerUs(int timer) {
        return RNR_TIMER_US[timer & VALUE_MASK];
    }

    /** The reason, 0 to 31, of a NAK. */
    public static int nakCode(int syndrome) {
        return syndrome & VALUE_MASK;
    }

    /** What a syndrome says, in words. Not for the hot path. */
    public static String describe(int syndrome) {
        return switch (syndrome & TYPE_MASK) {
            case ACK -> rnrTimer(syndrome) == ACK_UNLIMITED_CREDITS ? "ACK" : "ACK credits " + (syndrome & VALUE_MASK);
            case RNR_NAK -> "RNR NAK " + rnrTimerUs(rnrTimer(syndrome)) + " us";
            case NAK ->
                switch (nakCode(syndrome)) {
                    case 0 -> "NAK PSN sequence error";
                    case 1 -> "NAK invalid request";
                    case 2 -> "NAK remote access error";
                    case 3 -> "NAK remote operational error";
                    case 4 -> "NAK invalid RD request";
                    default -> "NAK reserved code " + nakCode(syndrome);
                };
            default -> String.format("reserved syndrome %02x", syndrome);
        };
    }

    /** The header as values. */
    public record Fields(int syndrome, int msn) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Aeth.syndrome(s, o), Aeth.msn(s, o));
        }

        public void write(MemorySegment s, long o) {
            Aeth.write(s, o, syndrome, msn);
        }

        @Override
        public String toString() {
            return "AETH " + describe(syndrome) + " msn " + msn;
        }
    }
}
