// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

/** What queue pairs do in a simulation. */
public enum Workload {
    /** Reliable connections: SENDs, WRITEs, READs, atomics and flushes of 0 bytes to 16 KiB. */
    RC("reliable connections, all operations, 0 to 16384 bytes", 4, 12, 16 << 10),
    /** Unreliable connections: SENDs with immediate data and WRITEs, which may be lost but never wrong. */
    UC("unreliable connections, messages of 0 to 16384 bytes", 4, 12, 16 << 10),
    /** Datagrams to queue pairs and multicast groups, which may be lost or doubled but never wrong. */
    UD("datagrams to queue pairs and to multicast groups, 0 to 4096 bytes", 4, 12, 4096),
    /** Reliable connections with messages of at most 64 bytes: many packets. */
    SMALL("reliable connections, all operations, 0 to 64 bytes", 8, 48, 64),
    /** Connections that are asked for, accepted or not, used once and ended, one after the other. */
    CM("connections that are made, used for a message and ended", 8, 1, 64);

    private final String summary;
    private final int queuePairs;
    private final int depth;
    private final int bytesMax;

    Workload(String summary, int queuePairs, int depth, int bytesMax) {
        this.summary = summary;
        this.queuePairs = queuePairs;
        this.depth = depth;
        this.bytesMax = bytesMax;
    }

    /** What it does, in a line. */
    public String summary() {
        return summary;
    }

    /** Pairs of queue pairs. */
    public int queuePairs() {
        return queuePairs;
    }

    /** Requests under way on each. */
    int depth() {
        return depth;
    }

    int bytesMax() {
        return bytesMax;
    }
}
