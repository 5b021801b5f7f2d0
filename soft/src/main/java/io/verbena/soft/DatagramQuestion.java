// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.SidrConversation;
import io.verbena.transport.cm.SidrParameters;
import io.verbena.transport.cm.SidrReply;
import io.verbena.transport.encap.Path;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.verbs.cm.RejectReason;
import java.net.InetAddress;

/**
 * What an id of port space UDP has in place of a conversation: a question for the queue pair of a datagram service, of
 * this side or of the other (IBTA volume 1, 12.11). Used inside the owner lock.
 */
final class DatagramQuestion {
    /** What all who talk datagrams by rdma_cm share (RDMA_UDP_QKEY). */
    static final int QKEY = 0x01234567;

    static final int MULTICAST_QP = 0xffffff;

    private final SoftContext device;
    private final SidrConversation engine;

    DatagramQuestion(SoftContext device, SidrConversation engine) {
        this.device = device;
        this.engine = engine;
    }

    static DatagramQuestion ask(
            SoftContext device, SoftConnectionId asking, long serviceId, Path path, byte[] privateData, long deadline) {
        SidrConversation asked = device.connections()
                .engine()
                .sidrRequest(device.agent().now(), new SidrParameters(serviceId, path, privateData, deadline));
        if (asked == null) {
            throw Connections.tooMany();
        }
        asked.attach(asking);
        return new DatagramQuestion(device, asked);
    }

    void accept(int qpNumber, PrivateData privateData) {
        answer(new SidrReply(SidrReply.VALID, qpNumber, QKEY, privateData.bytes()));
    }

    void refuse(PrivateData privateData) {
        answer(SidrReply.refused(SidrReply.REJECTED, privateData.bytes()));
    }

    private void answer(SidrReply reply) {
        if (!device.connections().engine().sidrReply(device.agent().now(), engine, reply)) {
            throw new RdmaException(RdmaException.Reason.DISCONNECTED, "the other side does not ask any more");
        }
    }

    void abandon() {
        device.connections().engine().abandon(device.agent().now(), engine);
    }

    /** What an answer means for who asked. */
    static ConnectionEvent event(SoftConnectionId id, InetAddress service, SidrReply reply) {
        PrivateData data = PrivateData.of(reply.privateData());
        if (reply.status() == SidrReply.VALID) {
            return new ConnectionEvent.DatagramResolved(
                    id, AddressVector.to(Gid.of(service)), reply.queuePair(), reply.queueKey(), data);
        }
        RejectReason reason = reply.status() == SidrReply.SERVICE_NOT_SUPPORTED
                ? RejectReason.INVALID_SERVICE_ID
                : RejectReason.CONSUMER_DEFINED;
        return new ConnectionEvent.Rejected(id, reason, reply.status(), data);
    }
}
