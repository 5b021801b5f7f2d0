// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connections, one after the other: asked for, accepted or not, used for a message, and ended by one side, by both or
 * by closing. Each attempt ends in time; each end of a connection gets one event that ends it; none is left over.
 */
final class ConnectionFlow implements Flow {
    private static final int BYTES = 64;
    /** So often nothing happened: an idle side learns that the other is gone when it posts. */
    private static final int QUIET_MAX = 500;
    /** Requests that nobody answers, for each takes its asker's whole patience. */
    private static final int UNANSWERED_MAX = 3;
    /** A clock that jumps ahead lets a deadline pass by so much. */
    private static final long LATE_MAX_NS = 150_000_000;
    /** In the number of a send: it only asks whether the other side is there. */
    private static final long PROBE = 1L << 40;

    private final int number;
    private final SeededRandom random;
    private final Station from;
    private final Station to;
    private final int operations;
    private final EventChannel asking;
    private final EventChannel answering;
    private final InetSocketAddress address;
    private final MemoryRegion target;
    /** Both sides, until they are closed. */
    private final Map<ConnectionId, ConnectionEnd> ends = new HashMap<>();
    /** Passive ends of the present attempt; a late duplicate of a request makes a second one. */
    private final List<ConnectionEnd> servers = new ArrayList<>();

    private @Nullable ConnectionEnd client;
    private long attempt;
    private long deadline;
    private boolean sent;
    private boolean carried;
    private boolean released;
    private boolean received;
    private int quiet;
    private int unanswered;
    private boolean ignored;
    private long arrived;
    private boolean broken;

    ConnectionFlow(int number, SeededRandom random, Station from, Station to, int operations) {
        this.number = number;
        this.random = random;
        this.from = from;
        this.to = to;
        this.operations = operations;
        asking = EventChannel.over(from.device());
        answering = EventChannel.over(to.device());
        ConnectionId listening = answering.createId(PortSpace.TCP);
        listening.bind(
                new InetSocketAddress(to.device().gidTable(1).getFirst().gid().toAddress(), 7000 + number));
        listening.listen(8);
        address = new InetSocketAddress(to.device().gidTable(1).getFirst().gid().toAddress(), 7000 + number);
        target = to.domain().register(to.allocate(BYTES), AccessFlag.LOCAL_WRITE);
    }

    @Override
    public boolean post() {
        boolean any = false;
        for (ConnectionEvent event = asking.poll(); event != null; event = asking.poll()) {
            onEvent(event);
            any = true;
        }
        for (ConnectionEvent event = answering.poll(); event != null; event = answering.poll()) {
            onEvent(event);
            any = true;
        }
        quiet = any ? 0 : quiet + 1;
        return advance() || any;
    }

    private void onEvent(ConnectionEvent event) {
        if (event instanceof ConnectionEvent.ConnectRequest request) {
            ends.put(request.id(), new ConnectionEnd("server of flow " + number, request.id()));
        }
        ConnectionEnd end = ends.get(event.id());
        if (end == null) {
            throw new Violation("flow " + number + ": an event of an id that is closed: " + event);
        }
        end.on(event);
        switch (event) {
            case ConnectionEvent.ConnectRequest request -> answer(end, request.parameters());
            case ConnectionEvent.AddressResolved ignored -> end.id().resolveRoute(Duration.ofSeconds(1));
            case ConnectionEvent.RouteResolved ignored -> ask(end);
            default -> {
                // The end has noted it.
            }
        }
        if (end == client && (end.established() || end.over())) {
            checkTime();
        }
    }

    /** The next thing to do in the present attempt; whether there was any. */
    private boolean advance() {
        ConnectionEnd asker = client;
        if (asker == null) {
            return begin();
        }
        if (asker.established() && !sent && !asker.over()) {
            sent = true;
            post(asker, attempt);
            return true;
        }
        if (received && !released) {
            released = true;
            release(asker);
            return true;
        }
        if (asker.over() && servers.stream().allMatch(ConnectionFlow::overOrUnanswered)) {
            finish(asker);
            return true;
        }
        if (quiet >= QUIET_MAX) {
            quiet = 0;
            return probe(asker);
        }
        return false;
    }

    private boolean begin() {
        if (attempt == operations) {
            return false;
        }
        ConnectionId id = asking.createId(PortSpace.TCP);
        ConnectionEnd end = new ConnectionEnd("client of flow " + number, id);
        ends.put(id, end);
        client = end;
        sent = false;
        carried = false;
        received = false;
        released = false;
        ignored = false;
        id.resolveAddress(null, address, Duration.ofSeconds(1));
        return true;
    }

    private void ask(ConnectionEnd end) {
        Duration patience = Duration.ofMillis(random.nextInt(2) == 0 ? 5_000 : 20 + random.nextInt(1_000));
        deadline = from.device().clockNanos() + patience.toNanos();
        end.id().createQueuePair(from.domain(), options(from));
        end.id()
                .connect(ConnectionParameters.defaults()
                        .withPrivateData(PrivateData.of(
                                ByteBuffer.allocate(8).putLong(attempt).array()))
                        .withTimeout(patience));
    }

    private static QueuePairOptions options(Station station) {
        return QueuePairOptions.rc(station.completions()).withQueueDepth(16, 2);
    }

    private void checkTime() {
        long late = from.device().clockNanos() - deadline;
        if (deadline != 0 && late > LATE_MAX_NS) {
            throw new Violation("flow " + number + ": an attempt took " + Duration.ofNanos(late) + " too long");
        }
        deadline = 0;
    }

    private void answer(ConnectionEnd end, ConnectionParameters parameters) {
        long asked = ByteBuffer.wrap(parameters.privateData().bytes()).getLong();
        if (asked > attempt) {
            throw new Violation("flow " + number + ": request " + asked + " of " + attempt);
        }
        servers.add(end);
        int dice = random.nextInt(100);
        if (dice < 5) {
            end.id().reject(PrivateData.NONE);
            forget(end);
        } else if (dice < 10) {
            forget(end);
        } else if (dice == 10 && unanswered < UNANSWERED_MAX) {
            unanswered++;
            ignored = true;
        } else {
            accept(end);
            if (dice > 95) {
                // Most likely before it is known that the other side is ready.
                end.id().disconnect();
            }
        }
    }

    private void accept(ConnectionEnd end) {
        try {
            end.id()
                    .createQueuePair(to.domain(), options(to))
                    .postReceive(Station.receiveId(number, attempt), target, 0, BYTES);
            end.id().accept(ConnectionParameters.defaults());
        } catch (RdmaException e) {
            if (e.reason() != RdmaException.Reason.DISCONNECTED) {
                throw new Violation(end.describe() + ": " + e.getMessage());
            }
        }
    }

    private void post(ConnectionEnd end, long sequence) {
        QueuePair queuePair = end.id().queuePair();
        if (queuePair == null) {
            throw new Violation(end.describe() + ": has no queue pair");
        }
        Station station = end == client ? from : to;
        long offset = (sequence & ~PROBE) * 8 % (station.source().length() - BYTES);
        queuePair.postSend(Station.sendId(number, sequence), station.source(), offset, BYTES, SendFlags.SIGNALED);
    }

    /** The message has arrived: who ends the connection? */
    private void release(ConnectionEnd asker) {
        int who = random.nextInt(5);
        if (who == 0 || who == 2) {
            asker.id().disconnect();
        }
        if (who == 1 || who == 2) {
            servers.forEach(end -> end.id().disconnect());
        }
        if (who == 3) {
            asker.close();
        }
        if (who == 4) {
            List.copyOf(servers).forEach(this::forget);
        }
    }

    /** A request that nobody answers does not end by itself. */
    private static boolean overOrUnanswered(ConnectionEnd end) {
        return end.over() || end.id().queuePair() == null;
    }

    private boolean probe(ConnectionEnd asker) {
        if (servers.stream().allMatch(ConnectionEnd::over)) {
            return probeOne(asker);
        }
        boolean any = false;
        if (asker.over()) {
            for (ConnectionEnd end : servers) {
                any |= probeOne(end);
            }
        }
        return any;
    }

    private boolean probeOne(ConnectionEnd end) {
        if (end.over() || !end.established()) {
            return false;
        }
        try {
            post(end, PROBE);
            return true;
        } catch (RdmaException e) {
            // The queue is full of such questions, and their answer is due.
            return false;
        }
    }

    private void finish(ConnectionEnd asker) {
        if (carried && !received) {
            throw new Violation("flow " + number + ": a message was acknowledged and did not arrive");
        }
        if ((asker.last() instanceof ConnectionEvent.Unreachable && !ignored)
                || (asker.last() instanceof ConnectionEvent.Disconnected gone
                        && gone.why().contains("failed"))) {
            broken = true;
        }
        forget(asker);
        List.copyOf(servers).forEach(this::forget);
        client = null;
        attempt++;
    }

    private void forget(ConnectionEnd end) {
        end.close();
        ends.remove(end.id());
        servers.remove(end);
    }

    @Override
    public void sent(long sequence, WorkCompletion completion) {
        quiet = 0;
        if (sequence == attempt && completion.isSuccess()) {
            carried = true;
        }
    }

    @Override
    public void received(DeviceContext device, long sequence, WorkCompletion completion) {
        quiet = 0;
        if (!completion.isSuccess()) {
            return;
        }
        if (sequence != attempt || received || completion.byteLength() != BYTES) {
            throw new Violation("flow " + number + ": in attempt " + attempt + " arrived " + completion);
        }
        long offset = attempt * 8 % (from.source().length() - BYTES);
        if (target.segment().mismatch(from.sourceBytes().asSlice(offset, BYTES)) >= 0) {
            throw new Violation("flow " + number + ": the message of attempt " + attempt + " is wrong");
        }
        received = true;
        arrived++;
    }

    @Override
    public boolean finished() {
        return attempt == operations;
    }

    @Override
    public long arrived() {
        return arrived;
    }

    @Override
    public boolean broken() {
        return broken;
    }

    @Override
    public void stop() {
        // All connections are over.
    }

    @Override
    public void check() {
        if (!ends.isEmpty()) {
            throw new Violation("flow " + number + ": " + ends.size() + " ends are left");
        }
        for (EventChannel channel : List.of(asking, answering)) {
            ConnectionEvent event = channel.poll();
            // Who asked may have given up already, while its request was late.
            if (event != null && !(event instanceof ConnectionEvent.ConnectRequest)) {
                throw new Violation("flow " + number + ": an event too many: " + event);
            }
        }
    }

    @Override
    public String describe() {
        ConnectionEnd asker = client;
        return "flow " + number + ": attempt " + attempt + " of " + operations
                + (asker == null ? "" : ", " + asker.describe())
                + (servers.isEmpty()
                        ? ""
                        : ", " + servers.stream().map(ConnectionEnd::describe).toList());
    }

    @Override
    public void close() {
        asking.close();
        answering.close();
        target.close();
    }
}
