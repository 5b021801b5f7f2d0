// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

/**
 * The 14 bits that a RoCE v2 flow puts into its UDP source port, made as Linux makes them ({@code rdma_get_udp_sport}).
 */
final class FlowHash {
    private static final int FLOW_LABEL_MASK = 0xfffff;
    private static final int PORT_BITS = 14;
    private static final int PORT_MASK = (1 << PORT_BITS) - 1;

    private FlowHash() {}

    static int of(int flowLabel, int localQp, int remoteQp) {
        int label = flowLabel & FLOW_LABEL_MASK;
        if (label == 0) {
            long product = (long) localQp * remoteQp;
            product ^= product >>> 20;
            product ^= product >>> 40;
            label = (int) (product & FLOW_LABEL_MASK);
        }
        return (label & PORT_MASK) ^ (label >>> PORT_BITS);
    }
}
