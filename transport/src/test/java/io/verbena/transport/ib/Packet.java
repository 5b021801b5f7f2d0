// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.AtomicAckEth;
import io.verbena.wire.ib.AtomicEth;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.FlushEth;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Ieth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import io.verbena.wire.ib.XrcEth;
import java.lang.foreign.MemorySegment;

/** A packet of a dialogue: made field by field, or taken apart. */
final class Packet {
    Opcode opcode;
    int psn;
    boolean ackRequest;
    boolean solicited;
    boolean migRequest;
    int partitionKey = 0xffff;
    int version;
    int padOverride = -1;
    long address;
    int rkey;
    long length;
    long swapOrAdd;
    long compare;
    int syndrome = Aeth.ACK_UNLIMITED_CREDITS;
    int msn;
    long original;
    int immediate;
    int qkey;
    int sourceQp;
    int sharedReceiveQueue;
    /** Read only: where it goes. */
    int destinationQp;

    long remoteHigh;
    long remoteLow;
    int placement;
    int scope;
    int invalidated;
    byte[] payload = new byte[0];

    static Packet of(Opcode opcode, int psn) {
        Packet packet = new Packet();
        packet.opcode = opcode;
        packet.psn = psn & Psn.MASK;
        return packet;
    }

    Packet ack() {
        ackRequest = true;
        return this;
    }

    Packet solicited() {
        solicited = true;
        return this;
    }

    Packet payload(byte[] bytes) {
        payload = bytes;
        return this;
    }

    Packet bytes(int count) {
        return payload(pattern(count));
    }

    /** Bytes that are all different from their neighbours and never 0. */
    static byte[] pattern(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (1 + i * 7 % 251);
        }
        return bytes;
    }

    Packet reth(long va, int key, long bytes) {
        address = va;
        rkey = key;
        length = bytes;
        return this;
    }

    Packet atomic(long va, int key, long operand, long expected) {
        address = va;
        rkey = key;
        swapOrAdd = operand;
        compare = expected;
        return this;
    }

    Packet aeth(int value, int count) {
        syndrome = value;
        msn = count;
        return this;
    }

    Packet original(long value) {
        original = value;
        return this;
    }

    /** What a FLUSH asks for, as the bits of the wire. */
    Packet flush(int type, int selectivity) {
        placement = type;
        scope = selectivity;
        return this;
    }

    Packet invalidate(int key) {
        invalidated = key;
        return this;
    }

    Packet immediate(int value) {
        immediate = value;
        return this;
    }

    Packet datagram(int key, int source) {
        qkey = key;
        sourceQp = source;
        return this;
    }

    Packet sharedReceiveQueue(int number) {
        sharedReceiveQueue = number;
        return this;
    }

    /** Writes the packet without its ICRC; returns its length. */
    int write(MemorySegment out, long at, int destinationQp) {
        int pad = -payload.length & 3;
        int shownPad = padOverride >= 0 ? padOverride : pad;
        Bth.write(
                out, at, opcode.code(), solicited, migRequest, shownPad, partitionKey, destinationQp, ackRequest, psn);
        out.set(JAVA_BYTE, at + 1, (byte) (out.get(JAVA_BYTE, at + 1) | version));
        if (opcode.hasXrcEth()) {
            XrcEth.write(out, at + opcode.xrcEthOffset(), sharedReceiveQueue);
        }
        if (opcode.hasDeth()) {
            Deth.write(out, at + opcode.dethOffset(), qkey, sourceQp);
        }
        if (opcode.hasReth()) {
            Reth.write(out, at + opcode.rethOffset(), address, rkey, length);
        }
        if (opcode.hasAtomicEth()) {
            AtomicEth.write(out, at + opcode.atomicEthOffset(), address, rkey, swapOrAdd, compare);
        }
        if (opcode.hasAeth()) {
            Aeth.write(out, at + opcode.aethOffset(), syndrome, msn);
        }
        if (opcode.hasAtomicAckEth()) {
            AtomicAckEth.write(out, at + opcode.atomicAckEthOffset(), original);
        }
        if (opcode.hasImmediate()) {
            ImmDt.write(out, at + opcode.immediateOffset(), immediate);
        }
        if (opcode.hasFlushEth()) {
            FlushEth.write(out, at + opcode.flushEthOffset(), placement, scope);
        }
        if (opcode.hasIeth()) {
            Ieth.write(out, at + opcode.iethOffset(), invalidated);
        }
        MemorySegment.copy(payload, 0, out, JAVA_BYTE, at + opcode.headerBytes(), payload.length);
        for (int i = 0; i < pad; i++) {
            out.set(JAVA_BYTE, at + opcode.headerBytes() + payload.length + i, (byte) 0);
        }
        return opcode.headerBytes() + payload.length + pad;
    }

    static Packet read(Frame frame) {
        MemorySegment in = frame.buffer();
        long at = frame.offset();
        Packet packet = of(Opcode.of(Bth.opcode(in, at)), Bth.psn(in, at));
        Opcode opcode = packet.opcode;
        packet.ackRequest = Bth.ackRequest(in, at);
        packet.solicited = Bth.solicited(in, at);
        packet.destinationQp = Bth.destinationQp(in, at);
        packet.remoteHigh = frame.remoteHigh();
        packet.remoteLow = frame.remoteLow();
        if (opcode.hasXrcEth()) {
            packet.sharedReceiveQueue(XrcEth.sharedReceiveQueue(in, at + opcode.xrcEthOffset()));
        }
        if (opcode.hasDeth()) {
            long deth = at + opcode.dethOffset();
            packet.datagram(Deth.queueKey(in, deth), Deth.sourceQp(in, deth));
        }
        if (opcode.hasReth()) {
            long reth = at + opcode.rethOffset();
            packet.reth(Reth.virtualAddress(in, reth), Reth.rkey(in, reth), Reth.length(in, reth));
        }
        if (opcode.hasAtomicEth()) {
            long eth = at + opcode.atomicEthOffset();
            packet.atomic(
                    AtomicEth.virtualAddress(in, eth),
                    AtomicEth.rkey(in, eth),
                    AtomicEth.swapOrAdd(in, eth),
                    AtomicEth.compare(in, eth));
        }
        if (opcode.hasAeth()) {
            packet.aeth(Aeth.syndrome(in, at + opcode.aethOffset()), Aeth.msn(in, at + opcode.aethOffset()));
        }
        if (opcode.hasAtomicAckEth()) {
            packet.original(AtomicAckEth.original(in, at + opcode.atomicAckEthOffset()));
        }
        if (opcode.hasImmediate()) {
            packet.immediate(ImmDt.value(in, at + opcode.immediateOffset()));
        }
        if (opcode.hasFlushEth()) {
            long flush = at + opcode.flushEthOffset();
            packet.flush(FlushEth.placementType(in, flush), FlushEth.selectivity(in, flush));
        }
        if (opcode.hasIeth()) {
            packet.invalidate(Ieth.rkey(in, at + opcode.iethOffset()));
        }
        int bytes = frame.length() - Icrc.BYTES - opcode.headerBytes() - Bth.padCount(in, at);
        packet.payload = new byte[bytes];
        MemorySegment.copy(in, JAVA_BYTE, at + opcode.headerBytes(), packet.payload, 0, bytes);
        return packet;
    }

    /**
     * In words, with the PSN relative to {@code base}: {@code SEND_ONLY +0 A 5B}, {@code ACK +3 msn 1}, {@code NAK 60
     * +3 msn 1}.
     */
    String describe(int base) {
        String at = "+" + Psn.diff(psn, base);
        if (opcode.operation() == Opcode.Operation.ACKNOWLEDGE) {
            String kind = syndrome == Aeth.ACK_UNLIMITED_CREDITS
                    ? "ACK "
                    : (Aeth.isRnrNak(syndrome) ? "RNR " : "NAK ") + Integer.toHexString(syndrome) + " ";
            return kind + at + " msn " + msn;
        }
        String name = opcode.name();
        StringBuilder words = new StringBuilder(name.substring(name.indexOf('_') + 1))
                .append(' ')
                .append(at);
        if (ackRequest) {
            words.append(" A");
        }
        if (solicited) {
            words.append(" SE");
        }
        if (opcode.hasXrcEth()) {
            words.append(" srq ").append(sharedReceiveQueue);
        }
        if (opcode.hasDeth()) {
            words.append(" qkey ").append(Integer.toHexString(qkey));
        }
        if (opcode.hasReth()) {
            words.append(" len ").append(length);
        }
        if (opcode.hasAtomicAckEth()) {
            words.append(" = ").append(original);
        }
        if (opcode.hasImmediate()) {
            words.append(" imm ").append(Integer.toHexString(immediate));
        }
        if (opcode.hasFlushEth()) {
            words.append(" to ").append(placement).append(" of ").append(scope);
        }
        if (opcode.hasIeth()) {
            words.append(" inv ").append(Integer.toHexString(invalidated));
        }
        if (opcode.hasPayload()) {
            words.append(' ').append(payload.length).append('B');
        }
        return words.toString();
    }
}
