// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzInput;
import io.verbena.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Any bytes are judged, with every kind of addressing; what was sealed is accepted, with the identification that it was
 * sealed with, and with a changed bit it is not.
 *
 * <p>Input: address family, identification, a bit to change, payload.
 */
public final class IcrcFuzz {
    private IcrcFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        boolean ipv4 = input.below(2) == 0;
        int ipId = input.u16();
        int change = input.u16();
        byte[] payload = input.rest();
        Icrc icrc = new Icrc();
        Frame frame = new Frame();
        judgeAsItIs(icrc, frame, payload);
        if (payload.length >= Bth.BYTES + Icrc.BYTES && (payload.length & 3) == 0) {
            sealAndChange(icrc, frame, payload, ipv4, ipId, change);
        }
    }

    private static void judgeAsItIs(Icrc icrc, Frame frame, byte[] payload) {
        MemorySegment s = MemorySegment.ofArray(payload);
        icrc.verifyEthernet(s, 0, payload.length);
        icrc.verifyRocev1(s, 0, payload.length);
        frame.wrap(s, 0, payload.length);
        for (boolean ipv4 : new boolean[] {true, false}) {
            address(frame, ipv4);
            for (int id : new int[] {0, Frame.IP_ID_UNKNOWN}) {
                frame.ipId(id);
                boolean good = icrc.verifyRocev2(frame);
                assertThat(icrc.solvedIpId()).isBetween(Frame.IP_ID_UNKNOWN, 0xffff);
                assertThat(good && payload.length < Bth.BYTES + Icrc.BYTES).isFalse();
            }
        }
    }

    private static void sealAndChange(Icrc icrc, Frame frame, byte[] payload, boolean ipv4, int ipId, int change) {
        MemorySegment s = MemorySegment.ofArray(payload);
        int bytes = payload.length - Icrc.BYTES;
        frame.wrap(s, 0, payload.length);
        frame.ipId(ipId);
        address(frame, ipv4);
        Icrc.store(s, bytes, icrc.rocev2(frame, bytes));
        turn(frame);
        assertThat(icrc.verifyRocev2(frame)).as("sealed").isTrue();
        frame.ipId(Frame.IP_ID_UNKNOWN);
        if (payload.length <= Icrc.SOLVABLE_BYTES_MAX || !ipv4) {
            assertThat(icrc.verifyRocev2(frame)).as("identification unknown").isTrue();
            assertThat(ipv4 ? icrc.solvedIpId() : ipId).isEqualTo(ipId);
        }
        frame.ipId(ipId);
        int at = change / 8 % payload.length;
        if (at != Bth.VARIANT_BYTE) {
            int value = s.get(ValueLayout.JAVA_BYTE, at) ^ (1 << (change & 7));
            s.set(ValueLayout.JAVA_BYTE, at, (byte) value);
            assertThat(icrc.verifyRocev2(frame)).as("bit changed at " + at).isFalse();
        }
    }

    private static void address(Frame frame, boolean ipv4) {
        long high = ipv4 ? 0 : 0xfe80_0000_0000_0000L;
        long low = ipv4 ? 0xffff_0a09_0001L : 0x5054_00ff_fe00_0001L;
        frame.local(high, low, 0xc000);
        frame.remote(high, low + 1, 4791);
    }

    /** What was sent is now received. */
    private static void turn(Frame frame) {
        long high = frame.localHigh();
        long low = frame.localLow();
        int port = frame.localPort();
        frame.local(frame.remoteHigh(), frame.remoteLow(), frame.remotePort());
        frame.remote(high, low, port);
    }
}
