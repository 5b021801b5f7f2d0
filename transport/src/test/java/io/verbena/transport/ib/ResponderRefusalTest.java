// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.ib.Opcode;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that the responder must refuse: which NAK, which completion, and that nothing is written. */
final class ResponderRefusalTest {
    private final Settings settings = new Settings();

    ResponderRefusalTest() {
        settings.mtu = Mtu.MTU_256;
    }

    private Dialogue withReceives() {
        Dialogue d = Dialogue.rts(settings);
        for (int i = 0; i < 3; i++) {
            d.end.postReceive(100 + i, Sge.of(d.memory, i * 4096L, 1024));
        }
        return d;
    }

    private static Packet write(Dialogue d, Opcode opcode, int psn, long length, int payload) {
        return d.request(opcode, psn)
                .reth(d.memory.address(), d.memory.rkey(), length)
                .bytes(payload)
                .ack();
    }

    /** 6.B 29: nothing began. */
    @ParameterizedTest
    @EnumSource(names = {"RC_SEND_MIDDLE", "RC_SEND_LAST", "RC_SEND_LAST_IMM", "RC_WRITE_MIDDLE", "RC_WRITE_LAST"})
    void continuationWithoutFirstIsInvalid(Opcode opcode) {
        Dialogue d = withReceives();
        d.expectRefused(d.request(opcode, 0).bytes(256).ack(), "NAK 61 +0 msn 0");
        d.expectCompletions("recv 100 WR_FLUSH_ERR", "recv 101 WR_FLUSH_ERR", "recv 102 WR_FLUSH_ERR");
    }

    /** 6.B 29: a message begins in another. */
    @ParameterizedTest
    @EnumSource(
            names = {
                "RC_SEND_FIRST",
                "RC_SEND_ONLY",
                "RC_WRITE_FIRST",
                "RC_WRITE_MIDDLE",
                "RC_WRITE_ONLY",
                "RC_READ_REQUEST",
                "RC_FETCH_ADD"
            })
    void anotherMessageInsideASendIsInvalid(Opcode opcode) {
        Dialogue d = withReceives();
        d.send(d.request(Opcode.RC_SEND_FIRST, 0).bytes(256));
        d.expectNothing();
        Packet packet = d.request(opcode, 1).reth(d.memory.address(), d.memory.rkey(), 512);
        d.expectRefused(opcode.hasPayload() ? packet.bytes(256) : packet, "NAK 61 +1 msn 0");
        d.expectCompletions("recv 100 REM_INV_REQ_ERR", "recv 101 WR_FLUSH_ERR", "recv 102 WR_FLUSH_ERR");
    }

    /** 6.B 30. */
    @ParameterizedTest
    @CsvSource({
        "RC_SEND_ONLY, 257",
        "RC_SEND_FIRST, 255",
        "RC_SEND_FIRST, 257",
        "RC_SEND_FIRST, 0",
        "RC_WRITE_ONLY, 257",
        "RC_WRITE_FIRST, 252",
        "RC_WRITE_FIRST, 260",
        "RC_WRITE_ONLY_IMM, 257"
    })
    void firstPacketOfWrongLengthIsInvalid(Opcode opcode, int payload) {
        Dialogue d = withReceives();
        byte[] before = d.bytes(d.memory, 0, 4096);
        d.expectRefused(write(d, opcode, 0, Math.max(payload, 300), payload), "NAK 61 +0 msn 0");
        assertThat(d.bytes(d.memory, 0, 4096)).isEqualTo(before);
    }

    /** 6.B 30. */
    @ParameterizedTest
    @CsvSource({"MIDDLE, 255", "MIDDLE, 0", "MIDDLE, 260", "LAST, 0", "LAST, 257"})
    void laterPacketOfWrongLengthIsInvalid(String position, int payload) {
        for (String operation : List.of("RC_SEND_", "RC_WRITE_")) {
            Dialogue d = withReceives();
            d.send(write(d, Opcode.valueOf(operation + "FIRST"), 0, 900, 256));
            d.out();
            d.expectRefused(d.request(Opcode.valueOf(operation + position), 1).bytes(payload), "NAK 61 +1 msn 0");
        }
    }

    /** 6.B 30: the packets do not add up to the length that the RETH names. No byte past it is written. */
    @ParameterizedTest
    @CsvSource({
        "RC_WRITE_LAST, 300, 45",
        "RC_WRITE_LAST, 300, 43",
        "RC_WRITE_MIDDLE, 512, 256",
        "RC_WRITE_LAST, 600, 88"
    })
    void writeThatDoesNotAddUpIsInvalid(Opcode second, int length, int payload) {
        Dialogue d = Dialogue.rts(settings);
        d.memory.segment().fill((byte) 1);
        d.send(write(d, Opcode.RC_WRITE_FIRST, 0, length, 256));
        d.out();
        d.expectRefused(d.request(second, 1).bytes(payload), "NAK 61 +1 msn 0");
        assertThat(d.bytes(d.memory, 256, 600)).containsOnly(1);
    }

    @ParameterizedTest
    @CsvSource({"8, 4", "4, 8", "0, 4", "4, 0"})
    void writeOnlyOfAnotherLengthThanItsRethIsInvalid(int length, int payload) {
        Dialogue d = Dialogue.rts(settings);
        byte[] before = d.bytes(d.memory, 0, 64);
        d.expectRefused(write(d, Opcode.RC_WRITE_ONLY, 0, length, payload), "NAK 61 +0 msn 0");
        assertThat(d.bytes(d.memory, 0, 64)).isEqualTo(before);
    }

    /** 6.A 18: messages end at 2^31 bytes. */
    @Test
    void lengthsBeyondTwoGigabytesAreInvalid() {
        Dialogue d = Dialogue.rts(settings);
        d.expectRefused(write(d, Opcode.RC_WRITE_FIRST, 0, (1L << 31) + 1, 256), "NAK 61 +0 msn 0");
        Dialogue e = Dialogue.rts(settings);
        e.expectRefused(
                e.request(Opcode.RC_READ_REQUEST, 0).reth(e.memory.address(), e.memory.rkey(), 0xffff_ffffL),
                "NAK 61 +0 msn 0");
    }

    /** 2.C: what the queue pair does not allow is 0x61, not 0x62; of no bytes too (6.B 32). */
    @ParameterizedTest
    @EnumSource(names = {"RC_WRITE_ONLY", "RC_READ_REQUEST", "RC_FETCH_ADD", "RC_COMPARE_SWAP"})
    void operationThatTheQueuePairDoesNotAllowIsInvalid(Opcode opcode) {
        settings.accessFlags = TestHost.ALL
                & ~switch (opcode) {
                    case RC_WRITE_ONLY -> AccessFlag.REMOTE_WRITE.code();
                    case RC_READ_REQUEST -> AccessFlag.REMOTE_READ.code();
                    default -> AccessFlag.REMOTE_ATOMIC.code();
                };
        Dialogue d = Dialogue.rts(settings);
        d.expectRefused(d.request(opcode, 0), "NAK 61 +0 msn 0");
        assertThat(d.host.events).containsExactly("OPERATION_NOT_ENABLED");
    }

    /** 6.B 33, one by one; the region lies between two others of the same memory. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "no key",
                "lkey",
                "domain",
                "right",
                "before",
                "past",
                "straddles end",
                "straddles start",
                "overflow"
            })
    void keyViolationsAreAccessErrors(String what) {
        for (Opcode opcode :
                List.of(Opcode.RC_WRITE_ONLY, Opcode.RC_WRITE_FIRST, Opcode.RC_READ_REQUEST, Opcode.RC_FETCH_ADD)) {
            Dialogue d = withReceives();
            int access = what.equals("right") ? AccessFlag.LOCAL_WRITE.code() : TestHost.ALL;
            int domain = what.equals("domain") ? TestHost.DOMAIN + 1 : TestHost.DOMAIN;
            Region region = d.host.register(d.memory.segment().asSlice(4096, 4096), access, domain);
            byte[] before = d.bytes(d.memory, 0, 3 * 4096);
            long va = region.address()
                    + switch (what) {
                        case "before" -> -4096;
                        case "past" -> 4096;
                        case "straddles end" -> 4096 - 8;
                        case "straddles start" -> -8;
                        case "overflow" -> -region.address() - 8;
                        default -> 0;
                    };
            int key = what.equals("no key") ? region.rkey() ^ 1 : what.equals("lkey") ? region.lkey() : region.rkey();
            Packet packet = d.request(opcode, 0);
            if (opcode == Opcode.RC_FETCH_ADD) {
                packet.atomic(what.equals("straddles end") ? va + 8 : va, key, 1, 0);
            } else {
                packet.reth(va, key, opcode == Opcode.RC_WRITE_ONLY ? 256 : 512);
            }
            d.expectRefused(opcode.hasPayload() ? packet.bytes(256) : packet, "NAK 62 +0 msn 0");
            assertThat(d.bytes(d.memory, 0, 3 * 4096)).isEqualTo(before);
            assertThat(d.host.events).containsExactly("REMOTE_ACCESS");
        }
    }

    /** 6.B 33: va + len passes 2^64. */
    @Test
    void addressPlusLengthMayNotOverflow() {
        Dialogue d = Dialogue.rts(settings);
        d.expectRefused(d.request(Opcode.RC_READ_REQUEST, 0).reth(-1L, d.memory.rkey(), 1L << 31), "NAK 62 +0 msn 0");
    }

    /** 6.B 32. */
    @Test
    void zeroLengthWithABadKeyIsFine() {
        Dialogue d = Dialogue.rts(settings);
        d.send(d.request(Opcode.RC_WRITE_ONLY, 0).reth(13, 0x1234, 0).ack());
        d.send(d.request(Opcode.RC_READ_REQUEST, 1).reth(-1, 0, 0));
        // The answer acknowledges the WRITE before it.
        d.expect("READ_RESPONSE_ONLY +1 0B");
        d.expectState(QueuePairState.RTS);
    }

    /** 6.B 37 and 2.C: before the key is looked at. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 7})
    void unalignedAtomicIsInvalid(int offset) {
        Dialogue d = Dialogue.rts(settings);
        d.expectRefused(
                d.request(Opcode.RC_FETCH_ADD, 0).atomic(d.memory.address() + offset, d.memory.rkey(), 1, 0),
                "NAK 61 +0 msn 0");
    }

    /** 1.12: the receive is too short; what fits is not kept as if it were the message. */
    @Test
    void messageLongerThanItsReceiveFailsOnBothSides() {
        Dialogue d = Dialogue.rts(settings);
        d.end.postReceive(1, Sge.of(d.memory, 0, 300));
        d.end.postReceive(2, Sge.of(d.memory, 4096, 300));
        d.send(d.request(Opcode.RC_SEND_FIRST, 0).bytes(256));
        d.expectRefused(d.request(Opcode.RC_SEND_LAST, 1).bytes(45), "NAK 61 +1 msn 0");
        d.expectCompletions("recv 1 LOC_LEN_ERR", "recv 2 WR_FLUSH_ERR");
    }

    /** 6.B 34. */
    @ParameterizedTest
    @ValueSource(strings = {"key", "domain", "right", "range"})
    void receiveThatNamesBadMemoryIsAnOperationalError(String what) {
        Dialogue d = Dialogue.rts(settings);
        int access = what.equals("right") ? AccessFlag.REMOTE_READ.code() : TestHost.ALL;
        Region region =
                d.host.register(d.memory.segment().asSlice(0, 64), access, what.equals("domain") ? 1 : TestHost.DOMAIN);
        byte[] before = d.bytes(d.memory, 0, 256);
        int length = what.equals("range") ? 65 : 64;
        d.end.postReceive(1, new Sge(region.address(), length, region.lkey() ^ (what.equals("key") ? 1 : 0)));
        d.expectRefused(d.request(Opcode.RC_SEND_ONLY, 0).bytes(length).ack(), "NAK 63 +0 msn 0");
        d.expectCompletions("recv 1 LOC_PROT_ERR");
        assertThat(d.bytes(d.memory, 0, 256)).isEqualTo(before);
    }

    /** 2.C: never more than this side granted. */
    @Test
    void moreReadsThanGrantedAreInvalid() {
        settings.maxDestRdAtomic = 2;
        Dialogue d = Dialogue.rts(settings);
        for (int i = 0; i < 3; i++) {
            d.send(d.request(Opcode.RC_READ_REQUEST, i).reth(d.memory.address(), d.memory.rkey(), 4));
        }
        d.expect("READ_RESPONSE_ONLY +0 4B", "READ_RESPONSE_ONLY +1 4B", "NAK 61 +2 msn 2");
        d.expectState(QueuePairState.ERR);
        settings.maxDestRdAtomic = 0;
        Dialogue none = Dialogue.rts(settings);
        none.expectRefused(
                none.request(Opcode.RC_FETCH_ADD, 0).atomic(none.memory.address(), none.memory.rkey(), 1, 0),
                "NAK 61 +0 msn 0");
    }

    /** A region that is deregistered in the middle of a message is not written any more. */
    @Test
    void writeToARegionThatIsDeregisteredIsRefused() {
        Dialogue d = Dialogue.rts(settings);
        d.send(write(d, Opcode.RC_WRITE_FIRST, 0, 512, 256));
        d.expect("ACK +0 msn 0");
        d.host.port.keys().remove(d.memory);
        byte[] before = d.bytes(d.memory, 256, 256);
        d.expectRefused(d.request(Opcode.RC_WRITE_LAST, 1).bytes(256), "NAK 62 +1 msn 0");
        assertThat(d.bytes(d.memory, 256, 256)).isEqualTo(before);
    }

    /** After the error nothing is carried out and nothing is answered. */
    @Test
    void queuePairInErrorIsSilent() {
        Dialogue d = withReceives();
        d.expectRefused(d.request(Opcode.RC_SEND_LAST, 0).bytes(4), "NAK 61 +0 msn 0");
        byte[] before = d.bytes(d.memory, 0, 64);
        d.send(write(d, Opcode.RC_WRITE_ONLY, 0, 4, 4));
        d.send(write(d, Opcode.RC_WRITE_ONLY, 1, 4, 4));
        d.expectNothing();
        assertThat(d.dropped(Counter.DROP_WRONG_STATE)).isEqualTo(2);
        assertThat(Arrays.equals(d.bytes(d.memory, 0, 64), before)).isTrue();
    }
}
