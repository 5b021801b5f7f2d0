// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class LocalInterfacesTest {
    @Test
    void loopbackComesFirst() throws IOException {
        List<LocalAddress> all = LocalInterfaces.list();
        assertThat(all).isNotEmpty();
        assertThat(all.getFirst().loopback()).isTrue();
        assertThat(all.getFirst().address()).isEqualTo(LinkTesting.address("127.0.0.1"));
        assertThat(all.getFirst().mtu()).isGreaterThanOrEqualTo(1500);
        boolean beyond = false;
        for (LocalAddress local : all) {
            assertThat(beyond && local.loopback()).isFalse();
            beyond |= !local.loopback();
        }
    }

    @Test
    void findsListedAndUnlistedLoopbackAddresses() throws IOException {
        for (LocalAddress local : LocalInterfaces.list()) {
            assertThat(LocalInterfaces.find(local.address())).contains(local);
        }
        assertThat(LocalInterfaces.find(LinkTesting.address("198.51.100.7"))).isEmpty();
        assumeTrue(System.getProperty("os.name").equals("Linux"), "only on Linux is all of 127/8 local");
        LocalAddress unlisted =
                LocalInterfaces.find(LinkTesting.address("127.0.0.2")).orElseThrow();
        assertThat(unlisted.address()).isEqualTo(LinkTesting.address("127.0.0.2"));
        assertThat(unlisted.loopback()).isTrue();
        assertThat(unlisted.mtu())
                .isEqualTo(LocalInterfaces.find(LinkTesting.address("127.0.0.1"))
                        .orElseThrow()
                        .mtu());
    }

    @Test
    void linkLocalAddressWithoutScopeGetsThatOfItsInterface() throws IOException {
        LocalAddress linkLocal = LocalInterfaces.list().stream()
                .filter(local -> local.address().isLinkLocalAddress())
                .findFirst()
                .orElse(null);
        assumeTrue(linkLocal != null, "no link-local address here");
        InetAddress bare = Addresses.of(Addresses.high(linkLocal.address()), Addresses.low(linkLocal.address()), 0);
        assertThat(Addresses.scopeId(bare)).isZero();
        LocalAddress found = LocalInterfaces.find(bare).orElseThrow();
        assertThat(Addresses.scopeId(found.address())).isEqualTo(Addresses.scopeId(linkLocal.address()));
    }

    @Test
    void portOwnerTellsWildcardSocketsToo() throws IOException {
        assumeTrue(System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux"), "only Linux tells");
        try (DatagramSocket socket = new DatagramSocket(0)) {
            assertThat(PortOwner.describe(LinkTesting.LOCAL_A, socket.getLocalPort()))
                    .hasValueSatisfying(owner -> assertThat(owner)
                            .startsWith("pid " + ProcessHandle.current().pid() + " (")
                            .contains("java"));
        }
        try (DatagramSocket socket = new DatagramSocket(0, LinkTesting.LOCAL_A)) {
            assertThat(PortOwner.describe(LinkTesting.LOCAL_B, socket.getLocalPort()))
                    .isEmpty();
        }
    }

    @Test
    void addressesRoundTrip() {
        for (String literal : List.of("127.0.0.1", "255.254.253.252", "::1", "fe80::1:2:3:4", "2001:db8::ff")) {
            InetAddress address = LinkTesting.address(literal);
            assertThat(Addresses.of(Addresses.high(address), Addresses.low(address), 0))
                    .isEqualTo(address);
        }
    }

    @Test
    void peerTableStaysBoundedAndRightUnderManyPeers() {
        PeerAddresses peers = new PeerAddresses(true, 0);
        for (int round = 0; round < 2; round++) {
            for (int i = 1; i < 5 * PeerAddresses.CAPACITY; i++) {
                var address = peers.get(0, 0xffff_0a00_0000L + i, 4791);
                assertThat(address.getPort()).isEqualTo(4791);
                assertThat(Addresses.low(address.getAddress())).isEqualTo(0xffff_0a00_0000L + i);
                assertThat(peers.get(0, 0xffff_0a00_0000L + i, 4791)).isSameAs(address);
            }
        }
        assertThat(peers.get(1, 2, 4791)).isNull();
    }
}
