// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.pcap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Any file gives packets and then its end or an {@link IOException}; the packets are no more than the file has bytes
 * for, and can be written and read again.
 */
public final class PcapFuzz {
    private PcapFuzz() {}

    public static void fuzzerTestOneInput(byte[] file) throws IOException {
        List<PcapReader.Packet> packets = new ArrayList<>();
        String complaint = read(file, packets);
        if (complaint != null) {
            assertThat(complaint).matches("capture file is corrupt at offset \\d+: .+");
        }
        long bytes = packets.stream().mapToLong(p -> 4 + p.bytes().byteSize()).sum();
        assertThat(bytes).isLessThanOrEqualTo(file.length);
        writeAndReadAgain(packets);
    }

    /** Adds the packets of a file to a list; returns what is wrong with the file, or null. */
    private static String read(byte[] file, List<PcapReader.Packet> packets) {
        try (PcapReader reader = new PcapReader(new ByteArrayInputStream(file))) {
            for (PcapReader.Packet p = reader.next(); p != null; p = reader.next()) {
                packets.add(p);
            }
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static void writeAndReadAgain(List<PcapReader.Packet> packets) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (PcapNgWriter writer = new PcapNgWriter(file, LinkTypes.ETHERNET)) {
            for (PcapReader.Packet p : packets) {
                writer.write(
                        p.timestampNs(),
                        p.bytes(),
                        0,
                        (int) p.bytes().byteSize(),
                        PcapNgWriter.Direction.INBOUND,
                        p.comment());
            }
        }
        List<PcapReader.Packet> again = new ArrayList<>();
        assertThat(read(file.toByteArray(), again)).isNull();
        assertThat(again).hasSameSizeAs(packets);
        for (int i = 0; i < packets.size(); i++) {
            assertThat(again.get(i).bytes().mismatch(packets.get(i).bytes())).isEqualTo(-1);
            assertThat(again.get(i).timestampNs()).isEqualTo(packets.get(i).timestampNs());
            assertThat(again.get(i).comment() == null).isEqualTo(packets.get(i).comment() == null);
        }
    }
}
