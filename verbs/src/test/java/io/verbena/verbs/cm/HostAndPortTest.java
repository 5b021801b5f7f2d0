// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class HostAndPortTest {
    @Test
    void anAddressWithoutANameHasNoSlash() {
        assertThat(HostAndPort.of(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 7174)))
                .isEqualTo("127.0.0.2:7174");
    }

    @Test
    void aNameIsWhatTheUserWrote() {
        assertThat(HostAndPort.of(InetSocketAddress.createUnresolved("storage.example", 1)))
                .isEqualTo("storage.example:1");
    }

    @Test
    void anIpv6AddressIsInBrackets() {
        assertThat(HostAndPort.of(new InetSocketAddress(InetAddress.ofLiteral("::1"), 65535)))
                .isEqualTo("[0:0:0:0:0:0:0:1]:65535");
    }

    @Test
    void anAddressThatIsNotKnownIsADash() {
        assertThat(HostAndPort.of(null)).isEqualTo("-");
    }
}
