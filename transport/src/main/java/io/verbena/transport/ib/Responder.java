// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.Placement;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.AtomicEth;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import java.lang.foreign.MemorySegment;

/**
 * Carries out the requests that arrive at a reliable connection: a pipeline of checks, each of which returns a verdict,
 * and one place that acts on verdicts (IBTA volume 1, 9.7.4 and figure "Responder packet validation"). Answers are made
 * by {@link ResponderOutput}.
 */
final class Responder {
    private final RcQueuePair qp;
    private final ResponderOutput output;
    final ResponderResources resources = new ResponderResources();
    private final InboundMessage message;
    private final RemoteMemory memory;
    private final PlacementRequests placement;

    /** The PSN of the next request packet. */
    int expectedPsn;
    /** Requests completed, modulo 2^24. */
    int msn;
    /** A NAK for {@link #expectedPsn} is out; the rest of that flight is dropped without another. */
    private boolean nakSent;

    Responder(RcQueuePair qp, int xrcDomain) {
        this.qp = qp;
        this.message = new InboundMessage(qp, xrcDomain);
        this.memory = new RemoteMemory(qp);
        this.placement = new PlacementRequests(qp, memory);
        this.output = new ResponderOutput(qp, this);
    }

    ResponderOutput output() {
        return output;
    }

    void reset() {
        message.abandon();
        nakSent = false;
        msn = 0;
        resources.clear();
        output.reset();
    }

    /** The message under way will not be finished. */
    void abandon() {
        message.abandon();
    }

    /** A request packet whose outer parts are good. */
    void onRequest(Frame frame, long bth, Opcode opcode, int psn, int payload) {
        qp.communicationEstablished();
        RequestVerdict verdict = checkPsn(frame, bth, opcode, psn, payload);
        if (verdict == RequestVerdict.OK) {
            verdict = message.checkOrder(opcode);
        }
        if (verdict == RequestVerdict.OK) {
            verdict = checkEnabled(opcode);
        }
        if (verdict == RequestVerdict.OK) {
            verdict = switch (opcode.operation()) {
                case SEND -> message.onSend(frame, bth, opcode, payload);
                case WRITE -> message.onWrite(frame, bth, opcode, payload);
                case READ_REQUEST -> onRead(frame, bth, opcode, psn);
                case COMPARE_SWAP, FETCH_ADD -> onAtomic(frame, bth, opcode, psn);
                case FLUSH, ATOMIC_WRITE -> onPlacement(frame, bth, opcode, psn, payload);
                default -> RequestVerdict.OPERATION_NOT_ENABLED;
            };
        }
        act(verdict, frame, bth, opcode, psn);
    }

    /** The one place where verdicts turn into acknowledgements, NAKs, completions and the error state. */
    private void act(RequestVerdict verdict, Frame frame, long bth, Opcode opcode, int psn) {
        switch (verdict) {
            case DONE -> {}
            case OK -> {
                nakSent = false;
                if (opcode.operation() != Opcode.Operation.READ_REQUEST) {
                    expectedPsn = Psn.add(expectedPsn, 1);
                }
                boolean answeredAnyway =
                        opcode.operation() != Opcode.Operation.SEND && opcode.operation() != Opcode.Operation.WRITE;
                if (!answeredAnyway && opcode.ends()) {
                    msn = Psn.add(msn, 1);
                }
                if (!answeredAnyway && Bth.ackRequest(frame.buffer(), bth)) {
                    output.acknowledge(psn);
                }
            }
            case OUT_OF_SEQUENCE -> {
                if (nakSent) {
                    qp.port.count(Counter.DROP_OUT_OF_SEQUENCE);
                } else {
                    nakSent = true;
                    qp.port.count(Counter.SEQUENCE_NAKS_SENT);
                    output.negative(expectedPsn, verdict.syndrome());
                }
            }
            case RECEIVER_NOT_READY -> {
                nakSent = true;
                qp.port.count(Counter.RNR_NAKS_SENT);
                output.negative(psn, verdict.syndrome() | qp.minRnrTimer);
            }
            case WRONG_ORDER,
                    OPERATION_NOT_ENABLED,
                    WRONG_LENGTH,
                    UNALIGNED_ATOMIC,
                    TOO_MANY_READS,
                    REMOTE_ACCESS,
                    NOT_INVALIDATED,
                    RECEIVE_TOO_SHORT,
                    RECEIVE_NOT_WRITABLE -> fatal(verdict, psn);
        }
    }

    private void fatal(RequestVerdict verdict, int psn) {
        output.negative(psn, verdict.syndrome());
        WorkCompletionStatus status = verdict.receiveStatus();
        if (qp.receives.isTaken() && status != null) {
            qp.receives.fail(status, verdict.syndrome());
        } else {
            qp.accessError(verdict);
        }
        qp.enterError();
    }

    private RequestVerdict checkPsn(Frame frame, long bth, Opcode opcode, int psn, int payload) {
        int ahead = Psn.diff(psn, expectedPsn);
        if (ahead > 0) {
            return RequestVerdict.OUT_OF_SEQUENCE;
        }
        if (ahead < 0) {
            onDuplicate(frame, bth, opcode, psn);
            return RequestVerdict.DONE;
        }
        return message.checkLength(opcode, payload);
    }

    private RequestVerdict checkEnabled(Opcode opcode) {
        int needed = switch (opcode.operation()) {
            case WRITE, ATOMIC_WRITE -> AccessFlag.REMOTE_WRITE.code();
            case READ_REQUEST -> AccessFlag.REMOTE_READ.code();
            case COMPARE_SWAP, FETCH_ADD -> AccessFlag.REMOTE_ATOMIC.code();
            default -> 0;
        };
        return (qp.accessFlags & needed) == needed ? RequestVerdict.OK : RequestVerdict.OPERATION_NOT_ENABLED;
    }

    private RequestVerdict onRead(Frame frame, long bth, Opcode opcode, int psn) {
        if (resources.full()) {
            return RequestVerdict.TOO_MANY_READS;
        }
        MemorySegment in = frame.buffer();
        long reth = bth + opcode.rethOffset();
        long bytes = Reth.length(in, reth);
        long address = Reth.virtualAddress(in, reth);
        int key = Reth.rkey(in, reth);
        if (bytes > InboundMessage.MESSAGE_MAX) {
            return RequestVerdict.WRONG_LENGTH;
        }
        if (bytes > 0 && memory.find(key, AccessFlag.REMOTE_READ.code(), address, bytes) == null) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        int packets = OutboundData.packets(bytes, qp.mtu);
        resources.addRead(psn, packets, address, bytes, key);
        expectedPsn = Psn.add(expectedPsn, packets);
        msn = Psn.add(msn, 1);
        output.queueAnswer();
        return RequestVerdict.OK;
    }

    private RequestVerdict onAtomic(Frame frame, long bth, Opcode opcode, int psn) {
        if (resources.full()) {
            return RequestVerdict.TOO_MANY_READS;
        }
        MemorySegment in = frame.buffer();
        long eth = bth + opcode.atomicEthOffset();
        long address = AtomicEth.virtualAddress(in, eth);
        int key = AtomicEth.rkey(in, eth);
        if ((address & 7) != 0) {
            return RequestVerdict.UNALIGNED_ATOMIC;
        }
        Region region = memory.find(key, AccessFlag.REMOTE_ATOMIC.code(), address, Long.BYTES);
        if (region == null) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        long operand = AtomicEth.swapOrAdd(in, eth);
        long old;
        try {
            old = opcode.operation() == Opcode.Operation.FETCH_ADD
                    ? Placement.fetchAndAdd(region, address, operand)
                    : Placement.compareAndSwap(region, address, AtomicEth.compare(in, eth), operand);
        } catch (IllegalStateException | InternalError gone) {
            memory.vanished();
            // Its arena was closed, or the file behind it shrank.
            return RequestVerdict.REMOTE_ACCESS;
        }
        msn = Psn.add(msn, 1);
        resources.addAtomic(opcode.operation(), psn, address, key, old);
        output.queueAnswer();
        return RequestVerdict.OK;
    }

    private RequestVerdict onPlacement(Frame frame, long bth, Opcode opcode, int psn, int payload) {
        if (resources.full()) {
            return RequestVerdict.TOO_MANY_READS;
        }
        RequestVerdict verdict = opcode.operation() == Opcode.Operation.FLUSH
                ? placement.flush(frame, bth, opcode)
                : placement.atomicWrite(frame, bth, opcode, payload);
        if (verdict == RequestVerdict.OK) {
            long reth = bth + opcode.rethOffset();
            msn = Psn.add(msn, 1);
            resources.addPlacement(
                    opcode.operation(),
                    psn,
                    Reth.virtualAddress(frame.buffer(), reth),
                    Reth.rkey(frame.buffer(), reth));
            output.queueAnswer();
        }
        return verdict;
    }

    /**
     * A request that was carried out before: it is answered again and has no other effect (IBTA volume 1, 9.7.5.1.3).
     */
    private void onDuplicate(Frame frame, long bth, Opcode opcode, int psn) {
        qp.port.count(Counter.DUPLICATE_REQUESTS);
        switch (opcode.operation()) {
            case SEND, WRITE -> output.acknowledge(Psn.add(expectedPsn, -1));
            case READ_REQUEST -> repeatRead(frame, bth, opcode, psn);
            default -> {
                int at = resources.find(psn);
                if (at < 0 || !resources.is(at, opcode.operation())) {
                    qp.port.count(Counter.DROP_STALE_DUPLICATE);
                    return;
                }
                resources.repeat(at, 0, 1, 0);
                output.queueAnswer();
            }
        }
    }

    private void repeatRead(Frame frame, long bth, Opcode opcode, int psn) {
        MemorySegment in = frame.buffer();
        long reth = bth + opcode.rethOffset();
        long bytes = Reth.length(in, reth);
        int at = resources.find(psn);
        if (at < 0 || !resources.is(at, Opcode.Operation.READ_REQUEST) || resources.rkey(at) != Reth.rkey(in, reth)) {
            qp.port.count(Counter.DROP_STALE_DUPLICATE);
            return;
        }
        int packet = Psn.diff(psn, resources.firstPsn(at));
        long skipped = (long) packet * qp.mtu;
        boolean inside = Reth.virtualAddress(in, reth) == resources.address(at) + skipped
                && bytes <= resources.length(at) - skipped
                && OutboundData.packets(bytes, qp.mtu) <= resources.packets(at) - packet;
        if (!inside) {
            qp.port.count(Counter.DROP_STALE_DUPLICATE);
            return;
        }
        resources.repeat(at, packet, OutboundData.packets(bytes, qp.mtu), skipped + bytes);
        output.queueAnswer();
    }

    static int acknowledgement() {
        return Aeth.ACK | Aeth.ACK_UNLIMITED_CREDITS;
    }
}
