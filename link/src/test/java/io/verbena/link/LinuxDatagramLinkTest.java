// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.IPV6_LOOPBACK;
import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.SECOND;
import static io.verbena.link.LinkTesting.pattern;
import static io.verbena.link.LinkTesting.receive;
import static io.verbena.link.LinkTesting.trySend;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.ffi.Errno;
import io.verbena.ffi.LinuxSockets;
import io.verbena.link.LinkTesting.Received;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LinuxDatagramLinkTest extends UdpLinkContract {
    @BeforeEach
    void onlyWhereGranted() {
        assumeTrue(LinuxSockets.available(), "not 64-bit Linux, or no native access");
    }

    @Override
    UdpLink open(InetAddress local, int port, LinkOptions options) throws IOException {
        return LinuxDatagramLink.open(local, port, options);
    }

    @Test
    void isWhatUdpLinkOpensHere() throws IOException {
        try (UdpLink link = UdpLink.open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink plain = UdpLink.open(LOCAL_A, 0, LinkOptions.defaults().withNativeExtras(false))) {
            assertThat(link).isInstanceOf(LinuxDatagramLink.class);
            assertThat(plain).isInstanceOf(NioDatagramLink.class);
        }
    }

    /** Random lengths, flows and destinations: whatever runs they make, every frame arrives whole and in order. */
    private void mixedTraffic(UdpLink a, UdpLink b, UdpLink c) throws IOException {
        Random random = new Random(42);
        Frame frame = new Frame();
        List<byte[]> toB = new ArrayList<>();
        List<byte[]> toC = new ArrayList<>();
        List<Received> atB = new ArrayList<>();
        List<Received> atC = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            boolean forC = random.nextInt(8) == 0;
            int length = random.nextInt(3) == 0 ? 16 + random.nextInt(4180) : 1040;
            byte[] payload = pattern(length, i);
            UdpLink to = forC ? c : b;
            while (!trySend(a, frame, payload, to.localAddress(), to.localPort(), 0)) {
                a.await(SECOND);
            }
            (forC ? toC : toB).add(payload);
            if (random.nextInt(20) == 0) {
                a.flush();
                b.receive(f -> atB.add(Received.of(f)), 1 + random.nextInt(40));
                c.receive(f -> atC.add(Received.of(f)), 1 + random.nextInt(40));
            }
        }
        a.flush();
        assertThat(a.transmitPending()).isFalse();
        atB.addAll(receive(b, toB.size() - atB.size()));
        atC.addAll(receive(c, toC.size() - atC.size()));
        assertThat(atB).hasSameSizeAs(toB);
        assertThat(atC).hasSameSizeAs(toC);
        for (int i = 0; i < toB.size(); i++) {
            assertThat(atB.get(i).bytes()).isEqualTo(toB.get(i));
        }
        for (int i = 0; i < toC.size(); i++) {
            assertThat(atC.get(i).bytes()).isEqualTo(toC.get(i));
        }
        assertThat(a.counters().framesSent()).isEqualTo(2000);
    }

    @Test
    void mixedTrafficArrivesInOrder() throws IOException {
        try (UdpLink a = open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink b = open(LOCAL_B, 0, LinkOptions.defaults());
                UdpLink c = open(LOCAL_B, 0, LinkOptions.defaults())) {
            mixedTraffic(a, b, c);
        }
    }

    @Test
    void mixedTrafficArrivesInOrderOverIpv6() throws IOException {
        assumeTrue(LocalInterfaces.find(IPV6_LOOPBACK).isPresent(), "no IPv6 here");
        try (UdpLink a = open(IPV6_LOOPBACK, 0, LinkOptions.defaults());
                UdpLink b = open(IPV6_LOOPBACK, 0, LinkOptions.defaults());
                UdpLink c = open(IPV6_LOOPBACK, 0, LinkOptions.defaults())) {
            mixedTraffic(a, b, c);
        }
    }

    @Test
    void runsReachALinkThatTakesDatagramsOneByOne() throws IOException {
        try (UdpLink a = open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink b = NioDatagramLink.open(LOCAL_B, 0);
                UdpLink c = open(LOCAL_B, 0, LinkOptions.defaults())) {
            mixedTraffic(a, b, c);
        }
    }

    @Test
    void equalFramesMakeRuns() throws IOException {
        try (UdpLink a = open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink b = open(LOCAL_B, 0, LinkOptions.defaults())) {
            Frame frame = new Frame();
            int[] ids = new int[20];
            for (int i = 0; i < 20; i++) {
                assertThat(a.beginTransmit(frame)).isTrue();
                ids[i] = frame.ipId();
                assertThat(trySend(a, frame, pattern(4112, i), LOCAL_B, b.localPort(), 0))
                        .isTrue();
            }
            // 15 frames of 4112 bytes fill a datagram.
            for (int i = 0; i < 20; i++) {
                assertThat(ids[i]).isEqualTo(i % 15);
            }
            a.flush();
            assertThat(receive(b, 20)).hasSize(20);
        }
    }

    @Test
    void icrcFollowsTheIdentificationThatIsSent() throws IOException {
        Icrc icrc = new Icrc();
        try (UdpLink a = open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink b = open(LOCAL_B, 0, LinkOptions.defaults())) {
            Frame frame = new Frame();
            int[] lengths = {64, 64, 64, 128, 128, 96, 96, 200};
            // 128 is too long for the run of 64, the first 96 ends that of 128, and 200 is too long for that of 96.
            int[] expected = {0, 1, 2, 0, 1, 2, 0, 0};
            for (int length : lengths) {
                assertThat(a.beginTransmit(frame)).isTrue();
                frame.local(frame.localHigh(), frame.localLow(), a.sourcePort(0));
                frame.remote(Addresses.high(LOCAL_B), Addresses.low(LOCAL_B), b.localPort());
                Bth.write(frame.buffer(), frame.offset(), 4, false, true, 0, 0xffff, 17, true, 99);
                int bytes = length - Icrc.BYTES;
                Icrc.store(frame.buffer(), frame.offset() + bytes, icrc.rocev2(frame, bytes));
                frame.length(length);
                a.commitTransmit(frame);
            }
            a.flush();
            List<Integer> solved = new ArrayList<>();
            while (solved.size() < lengths.length && b.await(SECOND)) {
                b.receive(f -> solved.add(icrc.verifyRocev2(f) ? icrc.solvedIpId() : -1), 64);
            }
            for (int i = 0; i < lengths.length; i++) {
                assertThat(solved.get(i)).as("frame " + i).isEqualTo(expected[i]);
            }
        }
    }

    @Test
    void trafficClassIsSeen() throws IOException {
        for (InetAddress local : List.of(LOCAL_A, IPV6_LOOPBACK)) {
            if (LocalInterfaces.find(local).isEmpty()) {
                continue;
            }
            try (UdpLink a = open(local, 0, LinkOptions.defaults());
                    UdpLink b = open(local, 0, LinkOptions.defaults())) {
                assertThat(b.capabilities().ecnVisible()).isTrue();
                Frame frame = new Frame();
                int[] classes = {0, 0x62, 0x62, 3, 0, 0xff};
                for (int trafficClass : classes) {
                    assertThat(a.beginTransmit(frame)).isTrue();
                    frame.length(100);
                    frame.local(frame.localHigh(), frame.localLow(), a.sourcePort(0));
                    frame.remote(Addresses.high(local), Addresses.low(local), b.localPort());
                    frame.trafficClass(trafficClass);
                    a.commitTransmit(frame);
                }
                a.flush();
                List<Integer> seen = new ArrayList<>();
                while (seen.size() < classes.length && b.await(SECOND)) {
                    b.receive(f -> seen.add(f.trafficClass()), 64);
                }
                assertThat(seen).containsExactly(0, 0x62, 0x62, 3, 0, 0xff);
            }
        }
    }

    @Test
    void framesLeftOverFromARunNeedNoOtherDatagramToComeOut() throws IOException {
        try (UdpLink a = open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink b = open(LOCAL_B, 0, LinkOptions.defaults())) {
            Frame frame = new Frame();
            for (int i = 0; i < 5; i++) {
                trySend(a, frame, pattern(500, i), LOCAL_B, b.localPort(), 0);
            }
            a.flush();
            for (int i = 0; i < 5; i++) {
                assertThat(b.await(SECOND)).isTrue();
                List<Received> one = new ArrayList<>();
                assertThat(b.receive(f -> one.add(Received.of(f)), 1)).isOne();
                assertThat(one.getFirst().bytes()).isEqualTo(pattern(500, i));
            }
            assertThat(b.await(0)).isFalse();
        }
    }

    @Test
    void runOfFramesLongerThanTheMtuIsReportedFrameByFrame() throws IOException {
        LocalAddress ethernet = LocalInterfaces.list().stream()
                .filter(local -> !local.loopback() && local.up() && local.mtu() < 4000)
                .findFirst()
                .orElse(null);
        assumeTrue(ethernet != null, "no network with a small MTU here");
        byte[] neighbour = ethernet.address().getAddress();
        neighbour[neighbour.length - 1] ^= 0x55;
        try (UdpLink link = open(ethernet.address(), 0, LinkOptions.defaults())) {
            Frame frame = new Frame();
            for (int i = 0; i < 3; i++) {
                trySend(link, frame, pattern(4112, i), InetAddress.getByAddress(neighbour), 4791, 0);
            }
            trySend(link, frame, pattern(100, 3), InetAddress.getByAddress(neighbour), 4791, 0);
            link.flush();
            List<Integer> errnos = new ArrayList<>();
            link.pollUnreachable((high, low, port, errno) -> errnos.add(errno));
            assertThat(errnos).containsExactly(Errno.EMSGSIZE, Errno.EMSGSIZE, Errno.EMSGSIZE);
            assertThat(link.counters().framesSent()).isOne();
            // The short frame at the end says nothing about runs: they go on.
            link.beginTransmit(frame);
            trySend(link, frame, pattern(100, 4), InetAddress.getByAddress(neighbour), 4791, 0);
            assertThat(link.beginTransmit(frame)).isTrue();
            assertThat(frame.ipId()).isOne();
        }
    }

    @Test
    void doubledAndDelayedFramesKeepAValidIcrc() throws IOException {
        Icrc icrc = new Icrc();
        try (UdpLink plainA = open(LOCAL_A, 0, LinkOptions.defaults());
                UdpLink b = open(LOCAL_B, 0, LinkOptions.defaults())) {
            FaultyLink a = new FaultyLink(
                    plainA,
                    FaultOptions.seed(9).withDuplicate(0.5).withReorder(0.5).transmitOnly());
            Frame frame = new Frame();
            for (int i = 0; i < 40; i++) {
                assertThat(a.beginTransmit(frame)).isTrue();
                frame.local(frame.localHigh(), frame.localLow(), a.sourcePort(0));
                frame.remote(Addresses.high(LOCAL_B), Addresses.low(LOCAL_B), b.localPort());
                Bth.write(frame.buffer(), frame.offset(), 4, false, true, 0, 0xffff, 17, true, i);
                Icrc.store(frame.buffer(), frame.offset() + Bth.BYTES, icrc.rocev2(frame, Bth.BYTES));
                frame.length(Bth.BYTES + Icrc.BYTES);
                a.commitTransmit(frame);
            }
            a.flush();
            a.await(0);
            a.flush();
            int expected = (int) (40 + a.duplicated());
            assertThat(a.duplicated()).isPositive();
            assertThat(a.reordered()).isPositive();
            List<Integer> ids = new ArrayList<>();
            while (ids.size() < expected && b.await(SECOND)) {
                b.receive(f -> ids.add(icrc.verifyRocev2(f) ? icrc.solvedIpId() : -1), 64);
            }
            // All of one run and a rest: identifications count up from 0 each time.
            assertThat(ids).hasSize(expected);
            int next = 0;
            for (int id : ids) {
                assertThat(id).isIn(0, next);
                next = id + 1;
            }
        }
    }
}
