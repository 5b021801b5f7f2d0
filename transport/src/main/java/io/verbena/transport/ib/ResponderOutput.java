// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.Placement;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.AtomicAckEth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;

/**
 * Makes the answers of a reliable connection's responder, in PSN order: answers to READs and atomics, then the newest
 * acknowledgement, which speaks for all before it (IBTA volume 1, 9.7.5.1).
 */
final class ResponderOutput {
    private static final int NONE = -1;

    private final RcQueuePair qp;
    private final Responder responder;
    private final RemoteMemory memory;

    /** Syndrome of the acknowledgement or NAK to send, {@link #NONE} when there is none. */
    private int syndrome = NONE;

    private int syndromePsn;

    ResponderOutput(RcQueuePair qp, Responder responder) {
        this.qp = qp;
        this.responder = responder;
        this.memory = new RemoteMemory(qp);
    }

    void reset() {
        syndrome = NONE;
    }

    /** Everything up to {@code psn} was carried out. A NAK that waits stays: it says that too, and more. */
    void acknowledge(int psn) {
        if (syndrome == NONE || Aeth.isAck(syndrome)) {
            syndrome = Responder.acknowledgement();
            syndromePsn = psn;
        }
        qp.port.activate(qp);
    }

    void negative(int psn, int nak) {
        syndrome = nak;
        syndromePsn = psn;
        qp.port.activate(qp);
    }

    void queueAnswer() {
        qp.port.activate(qp);
    }

    /** Writes the next answer; false when there is none. */
    boolean emit(Frame frame) {
        int at = responder.resources.sending();
        if (at >= 0) {
            if (responder.resources.isAtomic(at)) {
                emitAtomic(frame, at);
                return true;
            }
            if (emitRead(frame, at)) {
                return true;
            }
        }
        if (syndrome == NONE) {
            return false;
        }
        emitAcknowledge(frame, syndromePsn, syndrome);
        syndrome = NONE;
        return true;
    }

    private void emitAcknowledge(Frame frame, int psn, int value) {
        Opcode opcode = qp.wire(Opcode.RC_ACKNOWLEDGE);
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        Aeth.write(frame.buffer(), bth + opcode.aethOffset(), value, responder.msn);
        qp.writeFrame(frame, bth, opcode, false, false, psn, opcode.headerBytes());
    }

    /**
     * An answer acknowledges all requests before it, so an acknowledgement of those is not sent after it (IBTA volume
     * 1, 9.7.5.1.2).
     */
    private void acknowledgedBy(int psn) {
        if (syndrome != NONE && Aeth.isAck(syndrome) && Psn.diff(syndromePsn, psn) < 0) {
            syndrome = NONE;
        }
    }

    private void emitAtomic(Frame frame, int at) {
        ResponderResources resources = responder.resources;
        Opcode opcode = qp.wire(Opcode.RC_ATOMIC_ACKNOWLEDGE);
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        MemorySegment out = frame.buffer();
        Aeth.write(out, bth + opcode.aethOffset(), Responder.acknowledgement(), responder.msn);
        AtomicAckEth.write(out, bth + opcode.atomicAckEthOffset(), resources.original(at));
        int psn = resources.firstPsn(at);
        acknowledgedBy(psn);
        resources.advance(at);
        qp.writeFrame(frame, bth, opcode, false, false, psn, opcode.headerBytes());
    }

    /**
     * One packet of a READ's answer; false when the region is gone, which is answered by the NAK that {@link #emit}
     * sends then.
     */
    private boolean emitRead(Frame frame, int at) {
        ResponderResources resources = responder.resources;
        int packet = resources.cursor(at);
        int psn = Psn.add(resources.firstPsn(at), packet);
        long from = (long) packet * qp.mtu;
        int payload = (int) Math.min(qp.mtu, resources.endByte(at) - from);
        boolean last = packet == resources.end(at) - 1;
        // A repetition from the middle on is an answer of its own and begins with FIRST (IBTA volume 1, 9.7.5.1.3).
        Opcode opcode = qp.wire(
                packet == resources.begin(at)
                        ? last ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST
                        : last ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE);
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        MemorySegment out = frame.buffer();
        long body = bth + opcode.headerBytes();
        if (payload > 0 && !fetch(resources.rkey(at), resources.address(at) + from, out, body, payload)) {
            resources.abandonAll();
            negative(psn, Aeth.NAK_REMOTE_ACCESS_ERROR);
            qp.accessError(RequestVerdict.REMOTE_ACCESS);
            qp.enterError();
            return false;
        }
        if (opcode.hasAeth()) {
            Aeth.write(out, bth + opcode.aethOffset(), Responder.acknowledgement(), responder.msn);
        }
        acknowledgedBy(psn);
        resources.advance(at);
        qp.writeFrame(frame, bth, opcode, false, false, psn, opcode.headerBytes() + payload);
        return true;
    }

    private boolean fetch(int rkey, long address, MemorySegment out, long offset, int bytes) {
        Region region = memory.find(rkey, AccessFlag.REMOTE_READ.code(), address, bytes);
        return region != null && (Placement.fetch(region, address, out, offset, bytes) || memory.vanished());
    }
}
