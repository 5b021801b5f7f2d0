// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;

/** What two sides tell each other about a queue pair, and GIDs: parsed, or refused as misuse; never half understood. */
public final class EndpointFuzz {
    private EndpointFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.ISO_8859_1);
        try {
            QueuePairEndpoint endpoint = QueuePairEndpoint.parse(text);
            assertThat(endpoint.toString()).isEqualToIgnoringCase(text);
            assertThat(endpoint.lid()).isBetween(0, 0xffff);
            assertThat(endpoint.qpNumber()).isBetween(0, 0xffffff);
            assertThat(endpoint.psn()).isBetween(0, 0xffffff);
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotEmpty();
        }
        try {
            Gid gid = Gid.ofHex(text);
            assertThat(gid.toHex()).isEqualToIgnoringCase(text);
            assertThat(gid.toString()).isNotEmpty();
            assertThat(Gid.of(gid.toAddress())).isEqualTo(gid);
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotEmpty();
        }
    }
}
