// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import org.jspecify.annotations.Nullable;

/**
 * Frames of one flow in one contiguous piece of memory, which leave in one system call (UDP_SEGMENT, udp(7)): all have
 * the same length, but the last may be shorter.
 */
final class Run {
    /** UDP_MAX_SEGMENTS of include/linux/udp.h; later kernels take 128. */
    static final int FRAMES_MAX = 64;
    /** The largest UDP payload over IPv4. */
    static final int BYTES_MAX = 65_507;

    @Nullable
    LinuxSender sender;

    long start;
    int bytes;
    int frames;
    int frameBytes;
    long high;
    long low;
    int port;
    int trafficClass;
    /** To be sent frame by frame. */
    boolean single;

    private boolean shortLast;

    void clear() {
        frames = 0;
        bytes = 0;
        sender = null;
        single = false;
        shortLast = false;
    }

    void begin(LinuxSender sender, Frame frame, long start) {
        this.sender = sender;
        this.start = start;
        frames = 1;
        bytes = frame.length();
        frameBytes = frame.length();
        high = frame.remoteHigh();
        low = frame.remoteLow();
        port = frame.remotePort();
        trafficClass = frame.trafficClass();
        single = false;
        shortLast = false;
    }

    /** Whether some frame of the usual size could join. */
    boolean open() {
        return frames > 0 && frames < FRAMES_MAX && !shortLast && !single && bytes + frameBytes <= BYTES_MAX;
    }

    boolean joins(int sourcePort, Frame frame) {
        LinuxSender mine = sender;
        return open()
                && mine != null
                && mine.port == sourcePort
                && frame.length() <= frameBytes
                && frame.remoteLow() == low
                && frame.remoteHigh() == high
                && frame.remotePort() == port
                && frame.trafficClass() == trafficClass;
    }

    void add(Frame frame) {
        frames++;
        bytes += frame.length();
        shortLast = frame.length() < frameBytes;
    }

    /** Forgets the first frame: it has been sent. */
    void dropFirst() {
        int length = Math.min(frameBytes, bytes);
        start += length;
        bytes -= length;
        frames--;
    }
}
