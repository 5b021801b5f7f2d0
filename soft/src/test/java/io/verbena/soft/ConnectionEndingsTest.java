// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.Established;
import io.verbena.verbs.cm.ConnectionEvent.Rejected;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.verbs.cm.RejectReason;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How connections end, step by step; the devices must let themselves be closed after each. */
class ConnectionEndingsTest {
    private static final List<String> ONCE = List.of("Disconnected", "TimewaitExit");

    private final TwoIds ids = new TwoIds();

    @AfterEach
    void nothingIsLeft() {
        ids.close();
    }

    enum Who {
        CLIENT,
        SERVER,
        BOTH
    }

    @ParameterizedTest
    @EnumSource
    void bothSidesAreToldOnceWhoeverDisconnectsAndHoweverOften(Who who) throws InterruptedException {
        List<ConnectionId> ends = ids.connected();
        for (int i = 0; i < 2; i++) {
            if (who != Who.SERVER) {
                ends.get(0).disconnect();
            }
            if (who != Who.CLIENT) {
                ends.get(1).disconnect();
            }
        }
        assertThat(TwoIds.untilTimewaitExit(ids.channelA)).isEqualTo(ONCE);
        assertThat(TwoIds.untilTimewaitExit(ids.channelB)).isEqualTo(ONCE);
        for (ConnectionId id : ends) {
            assertThat(id.queuePair().state()).isEqualTo(QueuePairState.ERR);
            id.disconnect();
        }
        assertThat(ids.channelA.poll()).isNull();
        assertThat(ids.channelB.poll()).isNull();
    }

    @Test
    void closingAnEndDisconnectsTheOther() throws InterruptedException {
        List<ConnectionId> ends = ids.connected();
        ends.get(1).close();
        ends.get(1).close();
        TwoIds.expect(ids.channelA, Disconnected.class);
        assertThat(ids.channelB.poll()).isNull();
        assertRefused(RdmaException.Reason.CLOSED, () -> ends.get(1).migrate(ids.channelB));
        assertRefused(RdmaException.Reason.CLOSED, () -> ends.get(1).protectionDomain());
        ends.get(1).disconnect();
    }

    /** Until the answer has come, the side that accepted is not connected; what it says still arrives. */
    @Test
    void disconnectingRightAfterAcceptingEndsBothSides() throws InterruptedException {
        ConnectionId client = ids.resolved();
        ConnectionId server = ids.requestedBy(client);
        ids.accept(server);
        server.disconnect();
        ConnectionEvent first = ids.channelA.await(TwoIds.LIMIT);
        if (first instanceof Established) {
            first = ids.channelA.await(TwoIds.LIMIT);
        }
        assertThat(first).isInstanceOfAny(Disconnected.class, Rejected.class);
        ConnectionEvent last = ids.channelB.await(TwoIds.LIMIT);
        if (last instanceof Established) {
            last = ids.channelB.await(TwoIds.LIMIT);
        }
        assertThat(last).isInstanceOf(Disconnected.class);
    }

    enum Step {
        NEW {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                return ids.channelA.createId(PortSpace.TCP);
            }
        },
        BOUND {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                ConnectionId id = NEW.reach(ids);
                id.bind(TwoIds.addressOf(ids.a, 0));
                return id;
            }
        },
        LISTENING {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                ConnectionId id = BOUND.reach(ids);
                id.listen(1);
                return id;
            }
        },
        RESOLVED {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                return ids.resolved();
            }
        },
        CONNECTING {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                ConnectionId id = ids.resolved();
                assertThat(ids.requestedBy(id)).isNotNull();
                return id;
            }
        },
        REQUESTED {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                return ids.requestedBy(ids.resolved());
            }
        },
        REJECTED {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                ConnectionId id = REQUESTED.reach(ids);
                id.reject(PrivateData.NONE);
                return id;
            }
        },
        CONNECTED {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                return ids.connected().getFirst();
            }
        },
        DISCONNECTING {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                ConnectionId id = CONNECTED.reach(ids);
                id.disconnect();
                return id;
            }
        },
        DISCONNECTED {
            @Override
            ConnectionId reach(TwoIds ids) throws InterruptedException {
                ConnectionId id = DISCONNECTING.reach(ids);
                TwoIds.expect(ids.channelA, Disconnected.class);
                return id;
            }
        };

        abstract ConnectionId reach(TwoIds ids) throws InterruptedException;
    }

    @ParameterizedTest
    @EnumSource
    void anIdCanBeClosedInEveryState(Step step) throws InterruptedException {
        ConnectionId id = step.reach(ids);
        id.close();
        id.close();
        assertRefused(RdmaException.Reason.CLOSED, () -> id.resolveRoute(TwoIds.LIMIT));
        assertRefused(RdmaException.Reason.CLOSED, () -> id.reject(PrivateData.NONE));
        assertRefused(RdmaException.Reason.CLOSED, () -> id.accept(ConnectionParameters.defaults()));
    }

    @ParameterizedTest
    @EnumSource
    void aStepOutOfOrderIsAnErrorAndNothingElse(Step step) throws InterruptedException {
        ConnectionId id = step.reach(ids);
        assertRefused(RdmaException.Reason.INVALID_STATE, () -> id.establish());
        if (step != Step.NEW && step != Step.BOUND) {
            assertRefused(RdmaException.Reason.INVALID_STATE, () -> id.listen(1));
            assertRefused(RdmaException.Reason.INVALID_STATE, () -> id.bind(TwoIds.addressOf(ids.a, 0)));
            assertRefused(
                    RdmaException.Reason.INVALID_STATE,
                    () -> id.resolveAddress(null, ids.listening.localAddress(), TwoIds.LIMIT));
        }
        if (step != Step.RESOLVED) {
            assertRefused(RdmaException.Reason.INVALID_STATE, () -> id.connect(ConnectionParameters.defaults(), 77, 1));
        }
        if (step != Step.REQUESTED) {
            assertRefused(RdmaException.Reason.INVALID_STATE, () -> id.accept(ConnectionParameters.defaults()));
            assertRefused(RdmaException.Reason.INVALID_STATE, () -> id.reject(PrivateData.NONE));
        }
    }

    @Test
    void aRequestIsAnsweredOnce() throws InterruptedException {
        ConnectionId rejected = ids.requestedBy(ids.resolved());
        rejected.reject(PrivateData.utf8("no"));
        assertRefused(RdmaException.Reason.INVALID_STATE, () -> rejected.reject(PrivateData.utf8("no!")));
        assertRefused(RdmaException.Reason.INVALID_STATE, () -> rejected.accept(ConnectionParameters.defaults()));
        Rejected event = TwoIds.expect(ids.channelA, Rejected.class);
        assertThat(event.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED);
        assertThat(event.privateData().utf8()).isEqualTo("no");

        ConnectionId accepted = ids.connected().get(1);
        assertRefused(RdmaException.Reason.INVALID_STATE, () -> accepted.reject(PrivateData.NONE));
        assertRefused(RdmaException.Reason.INVALID_STATE, () -> accepted.accept(ConnectionParameters.defaults()));
        assertThat(ids.channelA.poll()).as("an event that nobody caused").isNull();
        assertThat(accepted.queuePair().state()).isEqualTo(QueuePairState.RTS);
    }

    /** A peer that asks and gives up, again and again, leaves nothing to the program that has not looked yet. */
    @Test
    void requestsThatWereTakenBackAreNotAnnounced() throws InterruptedException {
        for (int i = 0; i < 300; i++) {
            ConnectionId id = ids.resolved();
            id.connect(ConnectionParameters.defaults());
            id.close();
        }
        try (EventChannel other = EventChannel.over(ids.b)) {
            // What is announced there came after all of them.
            ConnectionId elsewhere = other.createId(PortSpace.TCP);
            elsewhere.listen(1);
            InetSocketAddress target =
                    TwoIds.addressOf(ids.b, elsewhere.localAddress().getPort());
            ids.resolved(target).connect(ConnectionParameters.defaults());
            TwoIds.expect(other, ConnectionEvent.ConnectRequest.class);
            assertThat(ids.channelB.poll()).isNull();
        }
        TwoIds.expect(ids.channelA, Rejected.class);
        assertThat(ids.connected()).hasSize(2);
    }

    @Test
    void aRequestThatWasTakenBackAfterItWasAnnouncedCannotBeAccepted() throws InterruptedException {
        ConnectionId client = ids.resolved();
        ConnectionId server = ids.requestedBy(client);
        client.close();
        Rejected event = TwoIds.expect(ids.channelB, Rejected.class);
        assertThat(event.id()).isSameAs(server);
        assertRefused(RdmaException.Reason.DISCONNECTED, () -> server.accept(ConnectionParameters.defaults()));
        server.reject(PrivateData.NONE);
    }

    @Test
    void eventsFollowAnIdToItsNewChannel() throws InterruptedException {
        try (EventChannel other = EventChannel.over(ids.b)) {
            List<ConnectionId> ends = ids.connected();
            ends.get(0).disconnect();
            TwoIds.expect(ids.channelA, Disconnected.class);
            ends.get(1).migrate(other);
            assertThat(TwoIds.untilTimewaitExit(other)).isEqualTo(ONCE);
            assertThat(ids.channelB.poll()).isNull();
        }
    }

    /** The shared domain cannot go while a region is in it; afterwards the device can. */
    @Test
    void aRegionThatOutlivesItsConnectionDoesNotKeepTheDevice() throws InterruptedException {
        ConnectionId id = ids.connected().getFirst();
        try (Arena arena = Arena.ofShared();
                MemoryRegion region = id.protectionDomain().register(arena.allocate(64))) {
            ids.channelA.close();
            assertThat(region.length()).isEqualTo(64);
        }
    }

    @Test
    void aSharedDomainThatAProgramClosedIsMadeAnew() throws InterruptedException {
        ConnectionId id = ids.connected().getFirst();
        ProtectionDomain domain = id.protectionDomain();
        id.close();
        domain.close();
        TwoIds.expect(ids.channelB, Disconnected.class);
        TwoIds.expect(ids.channelB, TimewaitExit.class);
        assertThat(ids.connected()).hasSize(2);
    }

    private static void assertRefused(RdmaException.Reason reason, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        e -> assertThat(e.reason()).as(e.getMessage()).isEqualTo(reason));
    }
}
