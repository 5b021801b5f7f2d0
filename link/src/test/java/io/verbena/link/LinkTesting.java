// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** What link tests share. Links take any free port, so that two runs at once do not meet. */
final class LinkTesting {
    static final long SECOND = 1_000_000_000L;
    static final InetAddress LOCAL_A = address("127.77.0.1");
    static final InetAddress LOCAL_B = address("127.77.0.2");
    static final InetAddress IPV6_LOOPBACK = address("::1");

    private LinkTesting() {}

    static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** A received frame, kept. */
    @SuppressWarnings("ArrayRecordComponent")
    record Received(byte[] bytes, InetAddress remote, int remotePort, InetAddress local, int localPort, int ipId) {
        static Received of(Frame frame) {
            return new Received(
                    frame.buffer().asSlice(frame.offset(), frame.length()).toArray(ValueLayout.JAVA_BYTE),
                    Addresses.of(frame.remoteHigh(), frame.remoteLow(), 0),
                    frame.remotePort(),
                    Addresses.of(frame.localHigh(), frame.localLow(), 0),
                    frame.localPort(),
                    frame.ipId());
        }
    }

    /** Bytes that tell their length and index. */
    static byte[] pattern(int length, int index) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + index * 7 + length);
        }
        return bytes;
    }

    static boolean trySend(DatagramLink link, Frame frame, byte[] payload, InetAddress to, int port, int flow)
            throws IOException {
        if (!link.beginTransmit(frame)) {
            return false;
        }
        MemorySegment.copy(payload, 0, frame.buffer(), ValueLayout.JAVA_BYTE, frame.offset(), payload.length);
        frame.length(payload.length);
        frame.local(frame.localHigh(), frame.localLow(), link.sourcePort(flow));
        frame.remote(Addresses.high(to), Addresses.low(to), port);
        link.commitTransmit(frame);
        return true;
    }

    static void send(DatagramLink link, byte[] payload, InetAddress to, int port) throws IOException {
        Frame frame = new Frame();
        while (!trySend(link, frame, payload, to, port, 0)) {
            link.await(SECOND);
        }
        link.flush();
    }

    /** Receives until there are {@code count} frames, or two seconds have passed without one. */
    static List<Received> receive(DatagramLink link, int count) throws IOException {
        List<Received> frames = new ArrayList<>();
        while (frames.size() < count) {
            int got = link.receive(frame -> frames.add(Received.of(frame)), count - frames.size());
            if (got == 0 && !link.await(2 * SECOND)) {
                break;
            }
        }
        return frames;
    }
}
