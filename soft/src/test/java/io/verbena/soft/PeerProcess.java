// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairEndpoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A device in a process of its own: tells its endpoints, is told those of the others, and then does nothing at all. */
final class PeerProcess {
    private final Process process;
    private final BufferedReader output;
    long address;
    int rkey;

    PeerProcess() throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PeerProcess.class.getName())
                .redirectError(Redirect.INHERIT)
                .start();
        output = process.inputReader(StandardCharsets.US_ASCII);
    }

    /** Connects queue pairs of this process, each to one of its own. */
    void connect(List<QueuePair> queuePairs) throws IOException {
        PrintStream input = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
        for (QueuePair qp : queuePairs) {
            input.println(qp.endpoint());
        }
        input.println();
        address = Long.parseLong(line());
        rkey = Integer.parseInt(line());
        for (QueuePair qp : queuePairs) {
            qp.connect(QueuePairEndpoint.parse(line()));
        }
    }

    private String line() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("the peer process ended");
        }
        return line;
    }

    /** As {@code kill -9} does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** The peer's program. */
    public static void main(String[] arguments) throws IOException {
        TwoDevices.Side side = new TwoDevices.Side(1 << 20);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        List<String> peers = new ArrayList<>();
        for (String line = input.readLine(); line != null && !line.isEmpty(); line = input.readLine()) {
            peers.add(line);
        }
        System.out.println(side.region.address());
        System.out.println(side.region.rkey());
        for (String peer : peers) {
            QueuePair qp = side.domain.createQueuePair(side.options());
            qp.connect(QueuePairEndpoint.parse(peer));
            System.out.println(qp.endpoint());
        }
        System.out.flush();
        // Until the parent kills this process or ends itself.
        String end = input.readLine();
        System.out.println(end);
    }
}
