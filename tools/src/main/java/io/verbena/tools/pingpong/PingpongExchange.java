// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.QueuePairEndpoint;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * How the two ends tell each other about their queue pairs: the client sends {@code lid:qpn:psn:gid} as a C string, the
 * server connects its queue pair and answers the same, the client says {@code done} (rdma-core,
 * libibverbs/examples/rc_pingpong.c).
 */
final class PingpongExchange {
    /** 51 characters and a NUL. */
    static final int LINE_BYTES = 52;

    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private PingpongExchange() {}

    static byte[] encode(QueuePairEndpoint endpoint) {
        return Arrays.copyOf(endpoint.toString().getBytes(StandardCharsets.US_ASCII), LINE_BYTES);
    }

    static QueuePairEndpoint decode(byte[] line, String peer) {
        String text = new String(line, 0, LINE_BYTES - 1, StandardCharsets.ISO_8859_1);
        try {
            if (line[LINE_BYTES - 1] == 0 && line[4] == ':' && line[11] == ':' && line[18] == ':') {
                return QueuePairEndpoint.parse(text);
            }
        } catch (IllegalArgumentException e) {
            // Told below, with what to do about it.
        }
        throw new CommandFailure("the peer at " + peer
                + " does not speak the protocol of ibv_rc_pingpong;"
                + " is the other end a pingpong too, and is the port right?");
    }

    /** The client's part; {@code connect} brings the queue pair up once the server is ready. */
    static QueuePairEndpoint asClient(Sideband sideband, QueuePairEndpoint local, Consumer<QueuePairEndpoint> connect)
            throws InterruptedException {
        sideband.send(encode(local));
        QueuePairEndpoint remote = decode(sideband.receive(LINE_BYTES, "its address", TIMEOUT), sideband.peer());
        // The original says done first and connects then, which is the same to a server: the first message is the
        // client's.
        connect.accept(remote);
        sideband.send(DONE);
        return remote;
    }

    /** The server's part; its queue pair is up before the client hears of it. */
    static QueuePairEndpoint asServer(Sideband sideband, QueuePairEndpoint local, Consumer<QueuePairEndpoint> connect)
            throws InterruptedException {
        QueuePairEndpoint remote = decode(sideband.receive(LINE_BYTES, "its address", TIMEOUT), sideband.peer());
        connect.accept(remote);
        sideband.send(encode(local));
        byte[] done = sideband.receive(DONE.length, "\"done\"", TIMEOUT);
        if (!Arrays.equals(done, DONE)) {
            throw new CommandFailure("the peer at " + sideband.peer() + " said something else than \"done\"");
        }
        return remote;
    }
}
