// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "::1",
                "::",
                "fd77::1",
                "fe80::fc:ff:fe00:1",
                "2001:db8:0:1:1:1:1:1",
                "2001:0:0:1::1",
                "1::"
            })
    void writesTheShortForm(String text) {
        assertThat(AddressText.of(InetAddress.ofLiteral(text))).isEqualTo(text);
    }
}
