// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.memory.Window;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.Opcode;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Binding and invalidating memory windows: where it stands in the send queue, and what the peer may do. */
final class MemoryWindowTest {
    private static final long REMOTE = 0x5000_0000L;
    private static final int RKEY = 0x1234_5678;
    /** Where the window lies in the region. */
    private static final int AT = 4096;

    private static final int LENGTH = 1024;
    private static final int WRITE = AccessFlag.REMOTE_WRITE.code();

    private final Settings settings = new Settings();
    private Dialogue d;
    private Window window;

    MemoryWindowTest() {
        settings.mtu = Mtu.MTU_256;
    }

    private void open(MemoryWindowType type) {
        d = Dialogue.rts(settings);
        window = d.host.window(type);
    }

    private Work bind(long wrId, int rkey) {
        return Work.bind(wrId, rkey, d.memory, AT, LENGTH, WRITE);
    }

    private Work send(long wrId, int length) {
        return Work.send(wrId, Sge.of(d.memory, 0, length));
    }

    private int next() {
        return (window.rkey() & ~0xff) | ((window.rkey() + 1) & 0xff);
    }

    /** A WRITE of 8 bytes by the peer to where the window lies. */
    private Packet write(int psn, int rkey) {
        return d.request(Opcode.RC_WRITE_ONLY, psn)
                .reth(d.memory.address() + AT, rkey, 8)
                .bytes(8)
                .ack();
    }

    private boolean works(int rkey) {
        return d.host.port.keys().remote(rkey) != null;
    }

    @ParameterizedTest
    @EnumSource
    void aBindTakesNoPsnAndTheNewKeyServesThePeer(MemoryWindowType type) {
        open(type);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.end.post(send(2, 5));
        d.expect("SEND_ONLY +0 A 5B");
        d.expectCompletions("1 SUCCESS");
        assertThat(window.rkey()).isEqualTo(rkey);
        d.send(write(0, rkey));
        d.expect("ACK +0 msn 1");
        assertThat(d.bytes(d.memory, AT, 8)).isEqualTo(Packet.pattern(8));
        assertThat(d.memory.windows()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"old key", "other tag", "before", "past", "straddles", "right", "unbound", "removed"})
    void whatAWindowDoesNotGiveIsRefused(String what) {
        open(MemoryWindowType.TYPE_2);
        int old = window.rkey();
        int rkey = next();
        if (!what.equals("unbound")) {
            d.end.post(bind(1, rkey));
            d.expectNothing();
        }
        if (what.equals("removed")) {
            d.host.port.keys().remove(window);
            assertThat(d.memory.windows()).isZero();
        }
        long start = d.memory.address() + AT;
        Packet request = write(0, rkey);
        d.expectRefused(
                switch (what) {
                    case "old key", "unbound" -> write(0, old);
                    case "other tag" -> write(0, rkey ^ 0x80);
                    case "before" -> request.reth(start - 8, rkey, 8);
                    case "past" -> request.reth(start + LENGTH, rkey, 8);
                    case "straddles" -> request.reth(start + LENGTH - 4, rkey, 8);
                    case "right" -> d.request(Opcode.RC_READ_REQUEST, 0).reth(start, rkey, 8);
                    default -> request;
                },
                "NAK 62 +0 msn 0");
    }

    /** A type 2 window belongs to the queue pair that bound it, a type 1 window to the domain. */
    @ParameterizedTest
    @EnumSource
    void anotherQueuePairMayUseAWindowOfTypeOneOnly(MemoryWindowType type) {
        open(type);
        TestQueuePair other = new TestQueuePair(d.host, settings);
        other.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.expectNothing();
        d.send(write(0, rkey), other.qp.qpNumber());
        d.expect(type == MemoryWindowType.TYPE_1 ? "ACK +0 msn 1" : "NAK 62 +0 msn 0");
    }

    @Test
    void theQueuePairThatComesToTheSameNumberIsNotServed() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.expectNothing();
        Region found = d.host.port.keys().remote(rkey);
        assertThat(found).isNotNull();
        assertThat(found.serves(d.qp)).isTrue();
        d.host.port.destroyQueuePair(d.qp);
        assertThat(found.serves(new TestQueuePair(d.host, settings).qp)).isFalse();
    }

    @Test
    void completesInTurnAlthoughItWorksAtOnce() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(send(1, 300));
        d.end.post(bind(2, rkey));
        d.end.post(bind(3, rkey).flags(0).as(SendOpcode.LOCAL_INV));
        d.end.post(send(4, 5));
        d.expect("SEND_FIRST +0 256B", "SEND_LAST +1 A 44B");
        assertThat(works(rkey)).isTrue();
        d.expectCompletions();
        d.send(d.acknowledge(0));
        d.expectCompletions();
        d.send(d.acknowledge(1));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
        d.expect("SEND_ONLY +2 A 5B");
        assertThat(works(rkey)).isFalse();
        d.send(d.acknowledge(2));
        d.expectCompletions("4 SUCCESS");
    }

    @Test
    void anInvalidationWaitsForAllBeforeIt() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.end.post(Work.read(2, REMOTE, RKEY, Sge.of(d.memory, 0, 300)));
        d.end.post(Work.localInvalidate(3, rkey));
        d.end.post(send(4, 5));
        d.expect("READ_REQUEST +0 A len 300");
        d.expectCompletions("1 SUCCESS");
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).bytes(256));
        d.expectNothing();
        assertThat(works(rkey)).isTrue();
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 1).bytes(44));
        d.expect("SEND_ONLY +2 A 5B");
        d.expectCompletions("2 SUCCESS", "3 SUCCESS");
        d.expectRefused(write(0, rkey), "NAK 62 +0 msn 0");
    }

    @Test
    void withAFenceABindWaitsForReads() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(Work.read(1, REMOTE, RKEY, Sge.of(d.memory, 0, 100)));
        d.end.post(bind(2, rkey).flags(SendFlags.SIGNALED | SendFlags.FENCE));
        d.expect("READ_REQUEST +0 A len 100");
        assertThat(works(rkey)).isFalse();
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 0).bytes(100));
        d.expectNothing();
        assertThat(works(rkey)).isTrue();
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
    }

    /** Carried out twice, the bind of a bound window of type 2 would fail. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aRetransmissionPassesOverWhatIsDone(int lost) {
        open(MemoryWindowType.TYPE_2);
        Window second = d.host.window(MemoryWindowType.TYPE_2);
        d.end.post(send(1, 300));
        d.end.post(bind(2, window.rkey()));
        d.end.post(bind(3, second.rkey()));
        d.end.post(send(4, 5));
        String[] all = {"SEND_FIRST +0 256B", "SEND_LAST +1 A 44B", "SEND_ONLY +2 A 5B"};
        d.expect(all);
        d.send(d.negative(lost, Aeth.NAK_PSN_SEQUENCE_ERROR));
        d.expect(Arrays.copyOfRange(all, lost, 3));
        d.advance(d.ackTimeoutNs());
        d.expect(Arrays.copyOfRange(all, lost, 3));
        d.send(d.acknowledge(2));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
        d.expectState(QueuePairState.RTS);
        assertThat(d.memory.windows()).isEqualTo(2);
        assertThat(d.qp.nextPsn()).isEqualTo(settings.sqPsn + 3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bind right",
                "local write",
                "flush right",
                "local right",
                "past",
                "before",
                "overflow",
                "region's domain",
                "window's domain",
                "dead region",
                "dead window",
                "region's key",
                "bound",
                "nothing"
            })
    void aBindThatIsNotAllowedFailsAfterAllBeforeIt(String what) {
        open(MemoryWindowType.TYPE_2);
        Work bad = badBind(what);
        d.end.post(send(1, 5));
        d.end.post(bad);
        d.end.post(send(3, 5));
        d.expect("SEND_ONLY +0 A 5B");
        d.expectCompletions();
        d.send(d.acknowledge(0));
        d.expectCompletions("1 SUCCESS", "2 MW_BIND_ERR", "3 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(d.memory.windows()).isEqualTo(what.equals("bound") ? 1 : 0);
    }

    private Work badBind(String what) {
        int rkey = window.rkey();
        int bind = AccessFlag.MEMORY_WINDOW_BIND.code();
        Region all = d.memory;
        return switch (what) {
            case "bind right" -> bindTo(TestHost.ALL & ~bind, TestHost.DOMAIN);
            case "local write" -> bindTo(bind, TestHost.DOMAIN);
            case "region's domain" -> bindTo(TestHost.ALL, 8);
            case "flush right" -> Work.bind(2, rkey, all, AT, 8, AccessFlag.FLUSH_PERSISTENT.code());
            case "local right" -> Work.bind(2, rkey, all, AT, 8, AccessFlag.LOCAL_WRITE.code());
            case "past" -> Work.bind(2, rkey, all, all.length() - 8, 9, WRITE);
            case "before" -> Work.bind(2, rkey, all, -1, 8, WRITE);
            case "overflow" -> Work.bind(2, rkey, all, 8, Long.MAX_VALUE, WRITE);
            case "region's key" -> bind(2, all.rkey());
            case "nothing" -> Work.bind(2, rkey, all, AT, 0, WRITE);
            case "window's domain" -> {
                Window foreign = new Window(MemoryWindowType.TYPE_2, 8);
                d.host.port.keys().add(foreign);
                yield bind(2, foreign.rkey());
            }
            case "dead region" -> {
                Region dead = d.host.region(8192);
                d.host.port.keys().remove(dead);
                yield Work.bind(2, rkey, dead, 0, 8, WRITE);
            }
            case "dead window" -> {
                d.host.port.keys().remove(window);
                yield bind(2, rkey);
            }
            default -> {
                d.end.post(bind(0, rkey).flags(0));
                yield bind(2, rkey);
            }
        };
    }

    private Work bindTo(int access, int domain) {
        Region region = d.host.register(d.host.allocate(8192), access, domain);
        return Work.bind(2, window.rkey(), region, 0, 8, WRITE);
    }

    @Test
    void aWindowOfTypeOneIsBoundAgainAndTakenBack() {
        open(MemoryWindowType.TYPE_1);
        int first = next();
        Region other = d.host.region(8192);
        d.end.post(bind(1, first));
        d.end.post(Work.bind(2, first ^ 0x10, other, 0, 8192, WRITE));
        d.expectNothing();
        assertThat(works(first)).isFalse();
        assertThat(works(window.rkey())).isTrue();
        assertThat(d.memory.windows()).isZero();
        assertThat(other.windows()).isEqualTo(1);
        int last = next();
        d.end.post(Work.bind(3, last, d.memory, 0, 0, 0));
        d.expectNothing();
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(other.windows()).isZero();
        d.expectRefused(write(0, last), "NAK 62 +0 msn 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"type 1", "stale key", "region", "nothing", "another queue pair's", "another domain's"})
    void whatMayNotBeInvalidatedFails(String what) {
        open(what.equals("type 1") ? MemoryWindowType.TYPE_1 : MemoryWindowType.TYPE_2);
        int old = window.rkey();
        TestQueuePair binder = d.end;
        if (what.equals("another queue pair's")) {
            binder = new TestQueuePair(d.host, settings);
            binder.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        }
        binder.post(bind(0, next()).flags(0));
        d.expectNothing();
        Window foreign = new Window(MemoryWindowType.TYPE_2, 8);
        d.host.port.keys().add(foreign);
        int rkey = switch (what) {
            case "stale key" -> old;
            case "region" -> d.memory.rkey();
            case "nothing" -> old ^ 0x100;
            case "another domain's" -> foreign.rkey();
            default -> window.rkey();
        };
        d.end.post(Work.localInvalidate(1, rkey));
        d.expectNothing();
        d.expectCompletions("1 LOC_QP_OP_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(works(window.rkey())).isTrue();
    }

    @Test
    void anInvalidatedWindowIsBoundAgain() {
        open(MemoryWindowType.TYPE_2);
        int first = next();
        d.end.post(bind(1, first));
        d.end.post(Work.localInvalidate(2, first));
        d.end.post(bind(3, first ^ 0x10));
        d.expectNothing();
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(works(first)).isFalse();
        d.send(write(0, first ^ 0x10));
        d.expect("ACK +0 msn 1");
    }

    @Test
    void inTheErrorStateABindIsFlushed() {
        open(MemoryWindowType.TYPE_2);
        d.qp.enterError();
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.expectNothing();
        d.expectCompletions("1 WR_FLUSH_ERR");
        assertThat(works(rkey)).isFalse();
    }

    @Test
    void sendsTheKeyToInvalidateWithTheLastPacket() {
        open(MemoryWindowType.TYPE_2);
        d.end.post(send(1, 300).as(SendOpcode.SEND_WITH_INV).at(0, RKEY));
        d.end.post(send(2, 0).as(SendOpcode.SEND_WITH_INV).at(0, RKEY));
        d.expect("SEND_FIRST +0 256B", "SEND_LAST_INV +1 A inv 12345678 44B", "SEND_ONLY_INV +2 A inv 12345678 0B");
        d.send(d.acknowledge(2));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
    }

    /** 6.B 42: the key is told in host order. */
    @Test
    void theLastPacketOfAMessageInvalidates() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.expectNothing();
        d.end.postReceive(7, Sge.of(d.memory, 0, 1024));
        d.send(d.request(Opcode.RC_SEND_FIRST, 0).bytes(256));
        assertThat(works(rkey)).isTrue();
        d.send(d.request(Opcode.RC_SEND_LAST_INV, 1).invalidate(rkey).bytes(10).ack());
        d.expect("ACK +1 msn 1");
        d.expectCompletions("1 SUCCESS", "recv 7 SUCCESS RECV 266 inv " + Integer.toHexString(rkey));
        d.expectRefused(write(2, rkey), "NAK 62 +2 msn 1");
    }

    /** Carried out again, the copy would take the rights of the second bind back. */
    @Test
    void aCopyDoesNotInvalidateAgain() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.end.postReceive(7, Sge.of(d.memory, 0, 64));
        d.expectNothing();
        Packet request =
                d.request(Opcode.RC_SEND_ONLY_INV, 0).invalidate(rkey).bytes(4).ack();
        d.send(request);
        d.expect("ACK +0 msn 1");
        d.end.post(bind(2, rkey));
        d.expectNothing();
        d.send(request);
        d.expect("ACK +0 msn 1");
        d.send(write(1, rkey));
        d.expect("ACK +1 msn 2");
    }

    @Test
    void aReceiverThatIsNotReadyInvalidatesNothing() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.expectNothing();
        Packet request =
                d.request(Opcode.RC_SEND_ONLY_INV, 0).invalidate(rkey).bytes(4).ack();
        d.send(request);
        d.expect("RNR 2c +0 msn 0");
        assertThat(works(rkey)).isTrue();
        d.end.postReceive(7, Sge.of(d.memory, 0, 64));
        d.send(request);
        d.expect("ACK +0 msn 1");
        assertThat(works(rkey)).isFalse();
    }

    /** 6.B 36: the whole key counts. */
    @ParameterizedTest
    @ValueSource(strings = {"stale key", "region", "nothing", "type 1"})
    void aKeyThatThePeerMayNotInvalidateIsRefused(String what) {
        open(what.equals("type 1") ? MemoryWindowType.TYPE_1 : MemoryWindowType.TYPE_2);
        int old = window.rkey();
        d.end.post(bind(1, next()).flags(0));
        d.expectNothing();
        d.end.postReceive(7, Sge.of(d.memory, 0, 64));
        int rkey = switch (what) {
            case "stale key" -> old;
            case "region" -> d.memory.rkey();
            case "nothing" -> old ^ 0x100;
            default -> window.rkey();
        };
        d.expectRefused(
                d.request(Opcode.RC_SEND_ONLY_INV, 0).invalidate(rkey).bytes(4).ack(), "NAK 62 +0 msn 0");
        d.expectCompletions("recv 7 REM_INV_REQ_ERR");
        assertThat(works(window.rkey())).isTrue();
        assertThat(works(d.memory.rkey())).isTrue();
    }

    @Test
    void aWriteUnderWayEndsWithTheWindow() {
        open(MemoryWindowType.TYPE_2);
        int rkey = next();
        d.end.post(bind(1, rkey));
        d.expectNothing();
        long start = d.memory.address() + AT;
        d.send(d.request(Opcode.RC_WRITE_FIRST, 0).reth(start, rkey, 300).bytes(256));
        d.end.post(Work.localInvalidate(2, rkey));
        d.expectNothing();
        d.expectRefused(d.request(Opcode.RC_WRITE_LAST, 1).bytes(44).ack(), "NAK 62 +1 msn 0");
    }
}
