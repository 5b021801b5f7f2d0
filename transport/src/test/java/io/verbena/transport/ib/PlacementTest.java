// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.wire.ib.FlushEth;
import io.verbena.wire.ib.Opcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** FLUSH and ATOMIC_WRITE (IBTA volume 1, annex A19), asked for and answered. */
final class PlacementTest {
    private static final long REMOTE = 0x5000_0000L;
    private static final int RKEY = 0x1234_5678;
    private static final int GLOBAL = FlushEth.GLOBAL_VISIBILITY;
    private static final int PERSISTENT = FlushEth.PERSISTENCE;
    private static final int BOTH_RIGHTS =
            TestHost.ALL | AccessFlag.mask(AccessFlag.FLUSH_GLOBAL, AccessFlag.FLUSH_PERSISTENT);

    private final Settings settings = new Settings();

    PlacementTest() {
        settings.mtu = Mtu.MTU_256;
        settings.accessFlags = BOTH_RIGHTS;
    }

    private static byte[] bytes(long value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putLong(value)
                .array();
    }

    private static Packet flush(Dialogue d, int psn, int type, int scope) {
        return d.request(Opcode.RC_FLUSH, psn)
                .flush(type, scope)
                .reth(d.memory.address(), d.memory.rkey(), 1000)
                .ack();
    }

    private static Packet atomicWrite(Dialogue d, int psn, long value) {
        return d.request(Opcode.RC_ATOMIC_WRITE, psn)
                .reth(d.memory.address() + 64, d.memory.rkey(), 8)
                .payload(bytes(value))
                .ack();
    }

    private static Packet answer(Dialogue d, int psn) {
        return d.response(Opcode.RC_READ_RESPONSE_ONLY, psn);
    }

    private static long word(Dialogue d) {
        return d.memory.segment().get(JAVA_LONG, 64);
    }

    @Test
    void asksOnePacketEachAndTakesAnEmptyAnswer() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.flush(1, REMOTE, RKEY, 100_000, GLOBAL | PERSISTENT, FlushEth.REGION));
        d.end.post(Work.atomicWrite(2, REMOTE, RKEY, 0x1122_3344_5566_7788L));
        d.end.post(Work.send(3, Sge.of(d.memory, 0, 5)));
        var out = d.out();
        assertThat(out.stream().map(d::describe))
                .containsExactly("FLUSH +0 A len 100000 to 3 of 1", "ATOMIC_WRITE +1 A len 8 8B", "SEND_ONLY +2 A 5B");
        assertThat(out.get(0).address).isEqualTo(REMOTE);
        assertThat(out.get(0).rkey).isEqualTo(RKEY);
        assertThat(out.get(1).payload).isEqualTo(bytes(0x1122_3344_5566_7788L));
        d.send(answer(d, 0));
        d.expectCompletions("1 SUCCESS");
        d.send(answer(d, 1));
        d.expectCompletions("2 SUCCESS");
        d.send(d.acknowledge(2));
        d.expectCompletions("3 SUCCESS");
        assertThat(d.qp.window.readsInFlight()).isZero();
    }

    /** As for a READ, an acknowledgement beyond it says that the answer is lost. */
    @Test
    void anAcknowledgementIsNoAnswer() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.flush(1, REMOTE, RKEY, 8, GLOBAL, FlushEth.RANGE));
        d.end.post(Work.send(2, Sge.of(d.memory, 0, 5)));
        d.expect("FLUSH +0 A len 8 to 1 of 0", "SEND_ONLY +1 A 5B");
        d.send(d.acknowledge(1));
        d.expect("FLUSH +0 A len 8 to 1 of 0", "SEND_ONLY +1 A 5B");
        d.expectCompletions();
        d.send(answer(d, 0));
        d.send(d.acknowledge(1));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
    }

    @Test
    void anAnswerThatIsLostIsAskedForAgain() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.atomicWrite(1, REMOTE, RKEY, 5));
        d.expect("ATOMIC_WRITE +0 A len 8 8B");
        d.advance(d.ackTimeoutNs());
        d.expect("ATOMIC_WRITE +0 A len 8 8B");
        d.send(answer(d, 0));
        d.expectCompletions("1 SUCCESS");
    }

    @ParameterizedTest
    @CsvSource({"RC_READ_RESPONSE_ONLY, 8", "RC_READ_RESPONSE_FIRST, 256", "RC_ATOMIC_ACKNOWLEDGE, 0"})
    void anAnswerOfAnotherKindIsBad(Opcode opcode, int payload) {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.flush(1, REMOTE, RKEY, 8, GLOBAL, FlushEth.RANGE));
        d.expect("FLUSH +0 A len 8 to 1 of 0");
        d.send(d.response(opcode, 0).bytes(payload));
        d.expectCompletions("1 BAD_RESP_ERR");
    }

    @Test
    void countsAgainstWhatMayBeOutstanding() {
        settings.maxRdAtomic = 2;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.atomicWrite(1, REMOTE, RKEY, 5));
        d.end.post(Work.flush(2, REMOTE, RKEY, 8, GLOBAL, FlushEth.RANGE));
        d.end.post(Work.atomicWrite(3, REMOTE, RKEY, 5));
        d.end.post(Work.send(4).flags(SendFlags.FENCE));
        d.expect("ATOMIC_WRITE +0 A len 8 8B", "FLUSH +1 A len 8 to 1 of 0");
        d.send(answer(d, 0));
        d.expect("ATOMIC_WRITE +2 A len 8 8B");
        d.send(answer(d, 1));
        d.expectNothing();
        d.send(answer(d, 2));
        d.expect("SEND_ONLY +3 A 0B");
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
    }

    @Test
    void fewerThanOneOutstandingIsAnErrorHere() {
        settings.maxRdAtomic = 0;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.flush(1, REMOTE, RKEY, 8, GLOBAL, FlushEth.RANGE));
        d.expectNothing();
        d.expectCompletions("1 LOC_QP_OP_ERR");
    }

    @Test
    void aFlushIsAnsweredLikeAReadOfNothing() {
        Dialogue d = Dialogue.rts(settings);
        d.send(flush(d, 0, GLOBAL, FlushEth.RANGE));
        d.send(flush(d, 1, GLOBAL, FlushEth.RANGE).reth(d.memory.address(), d.memory.rkey(), 0));
        assertThat(d.out())
                .allSatisfy(answer -> assertThat(answer.msn).isEqualTo(2))
                .map(d::describe)
                .containsExactly("READ_RESPONSE_ONLY +0 0B", "READ_RESPONSE_ONLY +1 0B");
    }

    /** RC-9: of a whole region address and length mean nothing. */
    @Test
    void aFlushOfARegionNamesNoRange() {
        Dialogue d = Dialogue.rts(settings);
        d.send(flush(d, 0, GLOBAL, FlushEth.REGION).reth(-1, d.memory.rkey(), 0xffff_ffffL));
        d.expect("READ_RESPONSE_ONLY +0 0B");
    }

    @ParameterizedTest
    @CsvSource({
        "no placement, 0, 0, 61",
        "placement 4, 5, 0, 61",
        "scope 2, 1, 2, 61",
        "scope 3, 1, 3, 61",
        "queue pair without the right, 1, 0, 61",
        "region without the right, 2, 0, 62",
        "region without the right, 3, 1, 62",
        "range, 1, 0, 62",
        "key, 1, 0, 62",
        "key, 1, 1, 62"
    })
    void aFlushThatIsNotAllowedIsRefused(String what, int type, int scope, String nak) {
        if (what.startsWith("queue pair")) {
            settings.accessFlags &= ~AccessFlag.FLUSH_GLOBAL.code();
        }
        Dialogue d = Dialogue.rts(settings);
        Packet request = flush(d, 0, type, scope);
        switch (what) {
            case "range" -> request.reth(d.memory.address() + 8, d.memory.rkey(), d.memory.length());
            case "key" -> request.reth(d.memory.address(), d.memory.rkey() ^ 1, 8);
            default -> {}
        }
        d.expectRefused(request, "NAK " + nak + " +0 msn 0");
    }

    @Test
    void whatIsMappedIsMadePersistent(@TempDir Path directory) throws IOException {
        try (FileChannel file = FileChannel.open(
                        directory.resolve("log"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            Dialogue d = Dialogue.rts(settings);
            MemorySegment mapped = file.map(MapMode.READ_WRITE, 0, 10_000, arena);
            Region region = d.host.register(mapped, BOTH_RIGHTS, TestHost.DOMAIN);
            d.send(flush(d, 0, PERSISTENT, FlushEth.RANGE).reth(region.address() + 5000, region.rkey(), 100));
            d.send(flush(d, 1, PERSISTENT | GLOBAL, FlushEth.REGION).reth(0, region.rkey(), 0));
            d.expect("READ_RESPONSE_ONLY +0 0B", "READ_RESPONSE_ONLY +1 0B");
            d.host.port.keys().remove(region);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsNotMappedOrIsGoneIsAnAccessError(boolean gone, @TempDir Path directory) throws IOException {
        Dialogue d = Dialogue.rts(settings);
        Region region;
        try (FileChannel file = FileChannel.open(
                        directory.resolve("log"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapped = file.map(MapMode.READ_WRITE, 0, 64, arena);
            region = d.host.register(gone ? mapped : d.host.allocate(64), BOTH_RIGHTS, TestHost.DOMAIN);
        }
        d.expectRefused(
                flush(d, 0, PERSISTENT, FlushEth.RANGE).reth(region.address(), region.rkey(), 64), "NAK 62 +0 msn 0");
    }

    @Test
    void anAtomicWritePlacesItsBytesAsTheyCome() {
        Dialogue d = Dialogue.rts(settings);
        d.send(atomicWrite(d, 0, 0x1122_3344_5566_7788L));
        d.expect("READ_RESPONSE_ONLY +0 0B");
        assertThat(word(d)).isEqualTo(0x1122_3344_5566_7788L);
        assertThat(d.bytes(d.memory, 0, 64)).isEqualTo(Packet.pattern(64));
        assertThat(d.bytes(d.memory, 72, 8)).isEqualTo(Arrays.copyOfRange(Packet.pattern(80), 72, 80));
    }

    /** What came later stays. */
    @Test
    void aCopyIsAnsweredAndChangesNothing() {
        Dialogue d = Dialogue.rts(settings);
        Packet first = atomicWrite(d, 0, 1);
        d.send(first);
        d.send(atomicWrite(d, 1, 2));
        Packet flush = flush(d, 2, GLOBAL, FlushEth.RANGE);
        d.send(flush);
        d.expect("READ_RESPONSE_ONLY +0 0B", "READ_RESPONSE_ONLY +1 0B", "READ_RESPONSE_ONLY +2 0B");
        d.send(first);
        d.expect("READ_RESPONSE_ONLY +0 0B");
        d.send(flush);
        d.expect("READ_RESPONSE_ONLY +2 0B");
        assertThat(word(d)).isEqualTo(2);
        d.send(flush(d, 0, GLOBAL, FlushEth.RANGE));
        d.expectNothing();
        assertThat(d.dropped(Counter.DROP_STALE_DUPLICATE)).isEqualTo(1);
    }

    @Test
    void moreThanWasAgreedIsInvalid() {
        settings.maxDestRdAtomic = 2;
        Dialogue d = Dialogue.rts(settings);
        d.send(atomicWrite(d, 0, 1));
        d.send(flush(d, 1, GLOBAL, FlushEth.RANGE));
        d.send(atomicWrite(d, 2, 3));
        assertThat(word(d)).isEqualTo(1);
        d.expectState(QueuePairState.ERR);
        assertThat(d.out().stream().map(d::describe)).contains("NAK 61 +2 msn 2");
    }

    /** 6.B 39. */
    @ParameterizedTest
    @ValueSource(ints = {0, 4, 7, 9, 16})
    void anAtomicWriteOfAnotherLengthIsInvalid(int length) {
        Dialogue d = Dialogue.rts(settings);
        long before = word(d);
        d.expectRefused(atomicWrite(d, 0, 1).bytes(length), "NAK 61 +0 msn 0");
        assertThat(word(d)).isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource({
        "announces 16, 61",
        "unaligned, 61",
        "queue pair without the right, 61",
        "region without the right, 62",
        "past, 62",
        "key, 62"
    })
    void anAtomicWriteThatIsNotAllowedIsRefused(String what, String nak) {
        if (what.startsWith("queue pair")) {
            settings.accessFlags &= ~AccessFlag.REMOTE_WRITE.code();
        }
        Dialogue d = Dialogue.rts(settings);
        Region constant = d.host.register(d.host.allocate(64), AccessFlag.REMOTE_READ.code(), TestHost.DOMAIN);
        long before = word(d);
        Packet request = atomicWrite(d, 0, 1);
        switch (what) {
            case "announces 16" -> request.reth(d.memory.address() + 64, d.memory.rkey(), 16);
            case "unaligned" -> request.reth(d.memory.address() + 60, d.memory.rkey(), 8);
            case "region without the right" -> request.reth(constant.address(), constant.rkey(), 8);
            case "past" -> request.reth(d.memory.address() + d.memory.length(), d.memory.rkey(), 8);
            case "key" -> request.reth(d.memory.address() + 64, d.memory.rkey() ^ 1, 8);
            default -> {}
        }
        d.expectRefused(request, "NAK " + nak + " +0 msn 0");
        assertThat(word(d)).isEqualTo(before);
    }
}
