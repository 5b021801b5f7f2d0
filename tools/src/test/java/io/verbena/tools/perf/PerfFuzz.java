// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzInput;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.ScriptedSideband;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import java.io.IOException;

/**
 * Whatever a peer says, a perf test has its parameters within their bounds or fails with a line for the user.
 *
 * <p>Input: 0 for a server and 1 for a client, what the peer says.
 */
public final class PerfFuzz {
    private static final PerfDestination LOCAL = new PerfDestination(0, 16, 0x11, 0x123456, 0x77, 0x1000, Gid.ZERO);

    private PerfFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) throws IOException, InterruptedException {
        FuzzInput input = new FuzzInput(bytes);
        boolean client = input.below(2) == 1;
        try (Sideband sideband = ScriptedSideband.saying(input.rest())) {
            PerfHandshake handshake = new PerfHandshake(sideband, client, DestinationForm.TEXT);
            assertThat(handshake.versions()).matches("[0-9.]+");
            PerfHandshake.Geometry geometry = handshake.geometry();
            assertThat(geometry.pageBytes()).isBetween(4096, 1 << 20);
            assertThat(geometry.cacheLineBytes()).isBetween(64, 4096);
            assertThat(handshake.mtu(Mtu.MTU_1024)).isLessThanOrEqualTo(Mtu.MTU_1024);
            destination(handshake.destination(LOCAL));
            destination(handshake.awaitPeer(LOCAL));
            BandwidthReport report = handshake.reports(new BandwidthReport(8, 5, 1, 1, 1, 0));
            assertThat(report.plus(report).toString()).isNotEmpty();
            handshake.close(LOCAL);
        } catch (CommandFailure e) {
            assertThat(e.getMessage()).isNotBlank().doesNotContainPattern("\\p{Cc}");
        }
    }

    private static void destination(PerfDestination remote) {
        assertThat(remote.qpNumber()).isBetween(0, 0xffffff);
        assertThat(remote.psn()).isBetween(0, 0xffffff);
        assertThat(remote.outstandingReads()).isBetween(0, 0xffff);
        assertThat(PerfDestination.decode(remote.encode())).isEqualTo(remote);
    }
}
