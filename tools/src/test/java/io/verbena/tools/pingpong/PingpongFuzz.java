// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzInput;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.ScriptedSideband;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairEndpoint;
import java.io.IOException;
import java.util.List;

/**
 * Whatever a peer says, a pingpong has its queue pairs or fails with a line for the user.
 *
 * <p>Input: bit 0 for a client and not a server, bit 1 for two queue pairs of three lines and not one of one, what the
 * peer says.
 */
public final class PingpongFuzz {
    private static final QueuePairEndpoint LOCAL = new QueuePairEndpoint(0, 0x11, 0x123456, Gid.ZERO);

    private PingpongFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) throws IOException, InterruptedException {
        FuzzInput input = new FuzzInput(bytes);
        int choice = input.below(4);
        boolean many = (choice & 2) != 0;
        List<QueuePairEndpoint> local = many ? List.of(LOCAL, LOCAL) : List.of(LOCAL);
        try (Sideband sideband = ScriptedSideband.saying(input.rest())) {
            PingpongExchange exchange = new PingpongExchange(sideband, many ? 3 : 1);
            List<QueuePairEndpoint> remote = (choice & 1) != 0
                    ? exchange.asClient(local, PingpongFuzz::connect)
                    : exchange.asServer(local, PingpongFuzz::connect);
            assertThat(remote).hasSameSizeAs(local);
            for (QueuePairEndpoint one : remote) {
                assertThat(PingpongExchange.decode(PingpongExchange.encode(one), "itself"))
                        .isEqualTo(one);
            }
        } catch (CommandFailure e) {
            assertThat(e.getMessage()).isNotBlank().doesNotContainPattern("\\p{Cc}");
        }
    }

    private static void connect(List<QueuePairEndpoint> remote) {
        for (QueuePairEndpoint one : remote) {
            assertThat(one.qpNumber()).isBetween(1, 0xffffff);
            assertThat(one.psn()).isBetween(0, 0xffffff);
        }
    }
}
