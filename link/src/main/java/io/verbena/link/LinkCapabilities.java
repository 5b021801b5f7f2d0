// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/**
 * What a link can see and do.
 *
 * @param mtuBytes IP MTU of the interface that has the local address
 * @param ipIdVisible whether {@code Frame.ipId} of a received frame is what the IP header said
 * @param ecnVisible whether {@code Frame.trafficClass} of a received frame is what the IP header said
 * @param zeroUdpChecksumIpv6Accepted whether datagrams over IPv6 with UDP checksum 0, which rdma_rxe sends, arrive;
 *     false on an IPv4 link, where the question does not arise
 * @param unreachableReported whether ICMP errors reach {@link DatagramLink#pollUnreachable}
 * @param maxRun most frames that leave in one system call
 */
public record LinkCapabilities(
        int mtuBytes,
        boolean ipIdVisible,
        boolean ecnVisible,
        boolean zeroUdpChecksumIpv6Accepted,
        boolean unreachableReported,
        int maxRun) {}
