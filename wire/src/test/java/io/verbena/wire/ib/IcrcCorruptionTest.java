// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.wire.BigEndian;
import io.verbena.wire.Frame;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Udp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the ICRC lets through and what it stops. */
class IcrcCorruptionTest {
    private static final int IP = 0;
    private static final int UDP = Ipv4.BYTES;
    private static final int BTH = UDP + Udp.BYTES;
    private static final int FLIPS = 2000;
    private static final long SOURCE = 0xffff_0a09_0001L;
    private static final long DESTINATION = 0xffff_0a09_0002L;

    private final Icrc icrc = new Icrc();
    private final Frame frame = new Frame();
    private final SplittableRandom random = new SplittableRandom(4791);

    /** A packet with its IPv4 header, random behind the UDP header, with a right ICRC. */
    private MemorySegment packet(int payloadBytes, int ipId) {
        int total = BTH + payloadBytes;
        MemorySegment s = Arena.ofAuto().allocate(total, 8);
        for (int i = BTH; i < total; i++) {
            s.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        Ipv4.write(s, IP, 2, total, ipId, true, 63, Ipv4.PROTOCOL_UDP, (int) SOURCE, (int) DESTINATION);
        Udp.write(s, UDP, 0xc123, Udp.PORT_ROCE_V2, Udp.BYTES + payloadBytes, 0);
        Icrc.store(s, total - Icrc.BYTES, icrc.ethernet(s, IP, total));
        return s;
    }

    private void receive(MemorySegment s, int ipId) {
        frame.local(0, DESTINATION, Udp.PORT_ROCE_V2);
        frame.remote(0, SOURCE, 0xc123);
        frame.ipId(ipId);
        frame.wrap(s, BTH, (int) s.byteSize() - BTH);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 20, 32, 36, 276, 1044, 1060, 4124, 4352})
    void aFlippedBitIsFoundUnlessARouterMayFlipIt(int payloadBytes) {
        MemorySegment s = packet(payloadBytes, 0x1234);
        int total = (int) s.byteSize();
        int allowed = 0;
        for (int i = 0; i < FLIPS; i++) {
            // The headers first, each bit of them, then random positions.
            int bit = i < 8 * (BTH + Bth.BYTES) ? i : random.nextInt(8 * total);
            int at = bit / 8;
            flip(s, bit);
            boolean masked = at == 1
                    || at == 8
                    || at == 10
                    || at == 11
                    || at == UDP + 6
                    || at == UDP + 7
                    || at == BTH + Bth.VARIANT_BYTE;
            assertThat(icrc.verifyEthernet(s, IP, total)).as("bit %d", bit).isEqualTo(masked);
            if (at >= BTH) {
                receive(s, 0x1234);
                assertThat(icrc.verifyRocev2(frame)).as("bit %d, id known", bit).isEqualTo(masked);
                receive(s, Frame.IP_ID_UNKNOWN);
                assertThat(icrc.verifyRocev2(frame))
                        .as("bit %d, id unknown", bit)
                        .isEqualTo(masked);
                assertThat(icrc.solvedIpId()).isEqualTo(masked ? 0x1234 : Frame.IP_ID_UNKNOWN);
            }
            allowed += masked ? 1 : 0;
            flip(s, bit);
        }
        // Seven bytes are masked; every one of their bits was flipped at least once.
        assertThat(allowed).isGreaterThanOrEqualTo(7 * 8).isLessThan(FLIPS / 2);
        assertThat(icrc.verifyEthernet(s, IP, total)).isTrue();
    }

    private static void flip(MemorySegment s, int bit) {
        BigEndian.put8(s, bit / 8, BigEndian.u8(s, bit / 8) ^ 1 << (bit & 7));
    }

    @Test
    void everyIdentificationIsSolvedFor() {
        for (int payloadBytes : new int[] {16, 20, 1044, 4124}) {
            MemorySegment s = packet(payloadBytes, 0);
            for (int id = 0; id < 0x10000; id++) {
                BigEndian.put16(s, IP + 4, id);
                Icrc.store(s, s.byteSize() - Icrc.BYTES, icrc.ethernet(s, IP, (int) s.byteSize()));
                receive(s, Frame.IP_ID_UNKNOWN);
                assertThat(icrc.verifyRocev2(frame)).isTrue();
                assertThat(icrc.solvedIpId()).isEqualTo(id);
            }
        }
    }

    @Test
    void randomCorruptionIsFoundWithAnUnknownIdentification() {
        MemorySegment s = packet(276, 0x1234);
        int trials = 400_000;
        int accepted = 0;
        for (int i = 0; i < trials; i++) {
            // Eight random bytes of payload: as good as a random difference of the CRC.
            s.set(ValueLayout.JAVA_LONG_UNALIGNED, BTH + Bth.BYTES + random.nextInt(248), random.nextLong());
            receive(s, Frame.IP_ID_UNKNOWN);
            accepted += icrc.verifyRocev2(frame) ? 1 : 0;
        }
        // One in 65,536 is expected, about 6; none at all would mean that the solver does not solve.
        assertThat(accepted).isBetween(1, trials / 10_000);
    }

    @Test
    void whatIsNoRoceIsRefused() {
        MemorySegment s = packet(64, 0);
        for (int length = 0; length < 16; length++) {
            receive(s, Frame.IP_ID_UNKNOWN);
            frame.length(length);
            assertThat(icrc.verifyRocev2(frame)).as("length %d", length).isFalse();
            assertThat(icrc.verifyEthernet(s, IP, length)).isFalse();
            assertThat(icrc.verifyRocev1(s, IP, length)).isFalse();
        }
        receive(s, Frame.IP_ID_UNKNOWN);
        frame.length(63);
        assertThat(icrc.verifyRocev2(frame)).as("not in words").isFalse();
        MemorySegment tooLong = packet(Icrc.SOLVABLE_BYTES_MAX + 4, 7);
        receive(tooLong, 7);
        assertThat(icrc.verifyRocev2(frame)).isTrue();
        receive(tooLong, Frame.IP_ID_UNKNOWN);
        assertThat(icrc.verifyRocev2(frame)).as("longer than any MTU").isFalse();
        assertThatThrownBy(() -> icrc.ethernet(s, IP, 43)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> icrc.rocev1(s, IP, 55)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void verifyingAllocatesNothing() {
        MemorySegment[] buffers = new MemorySegment[8];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = packet(16 + 128 * i, 77 * i);
        }
        run(buffers, 20_000);
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThat(run(buffers, 20_000)).isEqualTo(20_000);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        // Less than a byte a call: the assertion above allocates a little, one object a call would be 320,000.
        assertThat(allocated).isLessThan(20_000);
    }

    private int run(MemorySegment[] buffers, int rounds) {
        int accepted = 0;
        for (int i = 0; i < rounds; i++) {
            receive(buffers[i & 7], Frame.IP_ID_UNKNOWN);
            accepted += icrc.verifyRocev2(frame) ? 1 : 0;
        }
        return accepted;
    }

    @Test
    void moreBuffersThanViewsStayRight() {
        MemorySegment[] buffers = new MemorySegment[37];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = packet(16 + 4 * i, i);
        }
        for (int i = 0; i < 500; i++) {
            int which = random.nextInt(buffers.length);
            receive(buffers[which], Frame.IP_ID_UNKNOWN);
            assertThat(icrc.verifyRocev2(frame)).isTrue();
            assertThat(icrc.solvedIpId()).isEqualTo(which);
        }
    }
}
