// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.queue.SeededRandom;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** What the parts of a connection manager share. */
final class Core {
    private record Event(Timed about, Consumer<CmEvents> call) {}

    /** How long to wait for an answer before the first repetition; each further wait is twice as long. */
    private static final long RETRY_FIRST = 250_000_000L;
    /** The longest such wait. */
    private static final long RETRY_MAX = 2_000_000_000L;
    /** The longest wait that the other side's MRA can ask for. */
    static final long WAIT_MAX = 60_000_000_000L;

    final CmPort port;
    final CmBounds bounds;
    final SeededRandom random;
    final ConversationTable table;
    final Map<Long, CmListener> listeners = new HashMap<>();
    final Outbox outbox = new Outbox();
    final Timers timers = new Timers();
    private final ReplyBudget budget;
    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private final long[] counters = new long[CmCounter.values().length];

    Core(SeededRandom random, CmPort port, CmBounds bounds) {
        this.port = port;
        this.bounds = bounds;
        this.random = random;
        this.table = new ConversationTable(random);
        this.budget = new ReplyBudget(bounds.repliesPerSecond());
    }

    void count(CmCounter counter) {
        counters[counter.ordinal()]++;
    }

    long counter(CmCounter counter) {
        return counters[counter.ordinal()];
    }

    void raise(Timed about, Consumer<CmEvents> call) {
        events.add(new Event(about, call));
    }

    /** Whether one more passive conversation would be too much, whoever made room for it. */
    boolean isFull() {
        return table.size() >= bounds.conversations() || events.size() >= 4 * bounds.halfOpen();
    }

    void pollEvents(CmEvents sink) {
        for (Event event = events.poll(); event != null; event = events.poll()) {
            if (!event.about.abandoned) {
                event.call.accept(sink);
            }
        }
    }

    /** Answers a message that belongs to nothing, if there are not too many of them. */
    void reply(long now, Message message) {
        if (outbox.hasRoomForReplies() && budget.take(now)) {
            outbox.send(message);
        } else {
            count(CmCounter.DROP_REPLY);
        }
    }

    /** Sends a message that will be repeated until {@code giveUp}. */
    void begin(long now, Timed timed, Message message, long giveUp) {
        timed.message = message;
        timed.repeats = 0;
        timed.interval = RETRY_FIRST;
        timed.giveUp = giveUp;
        outbox.send(message);
        arm(timed, now + timed.interval);
    }

    /** The wait for an answer is over: repeats the message, or tells with false that this was enough. */
    boolean repeat(long now, Timed timed, int repeatsMax) {
        if (timed.giveUp - now <= 0 || timed.repeats >= repeatsMax || timed.message == null) {
            return false;
        }
        timed.repeats++;
        timed.interval = Math.min(2 * timed.interval, RETRY_MAX);
        count(CmCounter.REPETITIONS);
        outbox.send(timed.message);
        arm(timed, now + timed.interval);
        return true;
    }

    /** The other side needs time: 4.096 us times 2 to the power of {@code code}. */
    void extend(long now, Timed timed, int code) {
        timed.repeats = 0;
        arm(timed, now + Math.min(4096L << code, WAIT_MAX));
    }

    private void arm(Timed timed, long deadline) {
        timers.arm(timed, deadline - timed.giveUp < 0 ? deadline : timed.giveUp);
    }
}
