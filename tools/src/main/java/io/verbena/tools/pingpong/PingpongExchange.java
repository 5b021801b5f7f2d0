// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairEndpoint;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * How the two ends tell each other about their queue pairs: the client sends {@code lid:qpn:psn:gid} as a C string, the
 * server connects its queue pair and answers the same, the client says {@code done} (rdma-core,
 * libibverbs/examples/rc_pingpong.c). Where there may be many queue pairs, each side sends a fixed number of such
 * lines, and those beyond its last queue pair are zero (srq_pingpong.c).
 */
final class PingpongExchange {
    /** 51 characters and a NUL. */
    static final int LINE_BYTES = 52;

    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final QueuePairEndpoint UNUSED = new QueuePairEndpoint(0, 0, 0, Gid.ZERO);

    private final Sideband sideband;
    private final int lines;

    /** @param lines how many each side sends */
    PingpongExchange(Sideband sideband, int lines) {
        this.sideband = sideband;
        this.lines = lines;
    }

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

    /** The client's part; {@code connect} brings the queue pairs up once the server is ready. */
    List<QueuePairEndpoint> asClient(List<QueuePairEndpoint> local, Consumer<List<QueuePairEndpoint>> connect)
            throws InterruptedException {
        send(local);
        List<QueuePairEndpoint> remote = receive(local.size());
        // The original says done first and connects then, which is the same to a server: the first message is the
        // client's.
        connect.accept(remote);
        sideband.send(DONE);
        return remote;
    }

    /** The server's part; its queue pairs are up before the client hears of them. */
    List<QueuePairEndpoint> asServer(List<QueuePairEndpoint> local, Consumer<List<QueuePairEndpoint>> connect)
            throws InterruptedException {
        List<QueuePairEndpoint> remote = receive(local.size());
        connect.accept(remote);
        send(local);
        byte[] done = sideband.receive(DONE.length, "\"done\"", TIMEOUT);
        if (!Arrays.equals(done, DONE)) {
            throw new CommandFailure("the peer at " + sideband.peer() + " said something else than \"done\"");
        }
        return remote;
    }

    private void send(List<QueuePairEndpoint> local) throws InterruptedException {
        byte[] message = new byte[lines * LINE_BYTES];
        for (int i = 0; i < lines; i++) {
            System.arraycopy(encode(i < local.size() ? local.get(i) : UNUSED), 0, message, i * LINE_BYTES, LINE_BYTES);
        }
        sideband.send(message);
    }

    private List<QueuePairEndpoint> receive(int expected) throws InterruptedException {
        List<QueuePairEndpoint> remote = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            QueuePairEndpoint endpoint = decode(sideband.receive(LINE_BYTES, "its address", TIMEOUT), sideband.peer());
            if (endpoint.qpNumber() != 0) {
                remote.add(endpoint);
            }
        }
        if (remote.size() != expected) {
            throw new CommandFailure("the peer at " + sideband.peer() + " has " + remote.size()
                    + " queue pairs, this side " + expected + "; give both the same -q");
        }
        return remote;
    }
}
