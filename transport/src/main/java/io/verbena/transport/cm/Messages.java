// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.CmRejectReason;
import io.verbena.wire.cm.Drep;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.Mra;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Rep;
import io.verbena.wire.cm.Req;
import io.verbena.wire.cm.Rtu;
import io.verbena.wire.cm.SidrRep;
import io.verbena.wire.cm.SidrReq;
import io.verbena.wire.ib.Bth;

/** Writes messages. */
final class Messages {
    /** On Ethernet ports have no LIDs (IBTA volume 1, annex A16). */
    private static final int NO_LID = 0xffff;

    private static final int CM_RETRIES = 15;
    /** How long the other side is told to wait for an answer: 268 ms. */
    private static final int RESPONSE_TIMEOUT = 16;

    private Messages() {}

    static Message req(Conversation c, ConnectParameters p, long caGuid) {
        Path path = p.path();
        CmEndpoint end = p.endpoint();
        Message message = new Message(path, CmAttribute.REQ, c.transaction);
        Req.PathFields primary = new Req.PathFields(
                NO_LID,
                NO_LID,
                path.localHigh(),
                path.localLow(),
                path.remoteHigh(),
                path.remoteLow(),
                0,
                0,
                path.trafficClass(),
                path.hopLimit(),
                0,
                false,
                p.ackTimeout());
        Req.Fields fields = new Req.Fields(
                c.localId,
                0,
                p.serviceId(),
                caGuid,
                0,
                end.queuePair(),
                end.responderResources(),
                0,
                end.initiatorDepth(),
                0,
                RESPONSE_TIMEOUT,
                p.type() == QueuePairType.UC ? Req.TRANSPORT_UC : Req.TRANSPORT_RC,
                false,
                end.startingPsn(),
                RESPONSE_TIMEOUT,
                p.retryCount(),
                Bth.DEFAULT_PARTITION_KEY,
                p.pathMtu().code(),
                false,
                end.rnrRetry(),
                CM_RETRIES,
                end.sharedReceives(),
                0,
                primary,
                Req.PathFields.NONE);
        fields.write(message.mad, 0);
        return message.with(Req.PRIVATE_DATA, p.privateData());
    }

    static Message rep(Conversation c, AcceptParameters p, long caGuid) {
        CmEndpoint end = p.endpoint();
        Message message = new Message(c.path, CmAttribute.REP, c.transaction);
        new Rep.Fields(
                        c.localId,
                        c.remoteId,
                        0,
                        0,
                        end.queuePair(),
                        0,
                        end.startingPsn(),
                        end.responderResources(),
                        end.initiatorDepth(),
                        p.targetAckDelay(),
                        0,
                        false,
                        end.rnrRetry(),
                        end.sharedReceives(),
                        caGuid)
                .write(message.mad, 0);
        return message.with(Rep.PRIVATE_DATA, p.privateData());
    }

    static Message rtu(Conversation c) {
        Message message = new Message(c.path, CmAttribute.RTU, c.transaction);
        Rtu.write(message.mad, 0, c.localId, c.remoteId);
        return message;
    }

    static Message mra(Conversation c, int received, int serviceTimeout) {
        Message message = new Message(c.path, CmAttribute.MRA, c.transaction);
        Mra.write(message.mad, 0, c.localId, c.remoteId, received, serviceTimeout);
        return message;
    }

    /** A refusal within a conversation; {@code rejected} is what of {@link Rej}. */
    static Message rej(Conversation c, int rejected, int reason, byte[] privateData) {
        // Who is refused before a REP never learns this side's number (as Linux has it).
        int localId = rejected == Rej.MESSAGE_REQ ? 0 : c.localId;
        return rej(c.path, c.transaction, localId, c.remoteId, rejected, reason).with(Rej.PRIVATE_DATA, privateData);
    }

    /** This side waits no more. The other one may not have said its number yet: then it knows this one's. */
    static Message timeout(Conversation c, long caGuid) {
        int reason = CmRejectReason.TIMEOUT.number();
        Message message = rej(c.path, c.transaction, c.localId, c.remoteId, Rej.MESSAGE_NONE, reason);
        Rej.information(message.mad, 0, caGuid);
        return message;
    }

    static Message rej(Path path, long transaction, int localId, int remoteId, int rejected, int reason) {
        Message message = new Message(path, CmAttribute.REJ, transaction);
        Rej.write(message.mad, 0, localId, remoteId, rejected, reason);
        return message;
    }

    static Message dreq(Conversation c, long transaction, byte[] privateData) {
        Message message = new Message(c.path, CmAttribute.DREQ, transaction);
        Dreq.write(message.mad, 0, c.localId, c.remoteId, c.remoteQp);
        return message.with(Dreq.PRIVATE_DATA, privateData);
    }

    static Message drep(Path path, long transaction, int localId, int remoteId, byte[] privateData) {
        Message message = new Message(path, CmAttribute.DREP, transaction);
        Drep.write(message.mad, 0, localId, remoteId);
        return message.with(Drep.PRIVATE_DATA, privateData);
    }

    static Message sidrReq(SidrConversation s, byte[] privateData) {
        Message message = new Message(s.path, CmAttribute.SIDR_REQ, s.transaction);
        SidrReq.write(message.mad, 0, s.requestId, Bth.DEFAULT_PARTITION_KEY, s.serviceId);
        return message.with(SidrReq.PRIVATE_DATA, privateData);
    }

    static Message sidrRep(Path path, long transaction, int requestId, long serviceId, SidrReply reply) {
        Message message = new Message(path, CmAttribute.SIDR_REP, transaction);
        new SidrRep.Fields(requestId, reply.status(), 0, reply.queuePair(), serviceId, reply.queueKey())
                .write(message.mad, 0);
        return message.with(SidrRep.PRIVATE_DATA, reply.privateData());
    }
}
