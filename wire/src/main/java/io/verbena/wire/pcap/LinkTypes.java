// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.pcap;

/** What the bytes of a captured packet start with: the registry of the pcap file formats, as far as it matters here. */
public final class LinkTypes {
    public static final int ETHERNET = 1;

    /** An IPv4 or IPv6 header. */
    public static final int RAW_IP = 101;

    /**
     * InfiniBand, from LRH to VCRC. Wireshark 4.0 does not know this number; with one of DLT_USER0 to 15 (147 to 162)
     * instead, it can be told that the payload is {@code infiniband}.
     */
    public static final int INFINIBAND = 247;

    private LinkTypes() {}
}
