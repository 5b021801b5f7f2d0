// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.dissect;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Any bytes give one line, whatever the link, and no byte beside the packet has a say in it. */
public final class DissectorFuzz {
    private static final int BEFORE = 5;
    private static final int LINE_MAX = 1000;

    private DissectorFuzz() {}

    public static void fuzzerTestOneInput(byte[] packet) {
        Dissector dissector = new Dissector();
        MemorySegment alone = MemorySegment.ofArray(packet);
        String ethernet = dissector.ethernet(alone, 0, packet.length);
        String udp = dissector.udpPayload(alone, 0, packet.length);
        assertThat(ethernet).isNotEmpty().hasSizeLessThan(LINE_MAX).doesNotContain("\n", "no such bytes");
        assertThat(udp).isNotEmpty().hasSizeLessThan(LINE_MAX).doesNotContain("\n", "no such bytes");

        byte[] among = new byte[BEFORE + packet.length + 64];
        Arrays.fill(among, (byte) 0xff);
        System.arraycopy(packet, 0, among, BEFORE, packet.length);
        MemorySegment larger = MemorySegment.ofArray(among);
        assertThat(dissector.ethernet(larger, BEFORE, packet.length)).isEqualTo(ethernet);
        assertThat(dissector.udpPayload(larger, BEFORE, packet.length)).isEqualTo(udp);
    }
}
