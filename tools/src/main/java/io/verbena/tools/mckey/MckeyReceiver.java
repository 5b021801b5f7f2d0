// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import java.util.LinkedHashMap;
import java.util.Map;

/** Hears the group, until all messages have come. */
final class MckeyReceiver {
    private final MckeyEnd end;
    private final MckeyOptions options;
    private final int slotBytes;
    private final Map<Sender, Integer> messages = new LinkedHashMap<>();

    /** Where a message came from. */
    record Sender(Gid gid, int qpNumber) {}

    MckeyReceiver(MckeyEnd end, MckeyOptions options) {
        this.end = end;
        this.options = options;
        slotBytes = slotBytes(options);
    }

    static int slotBytes(MckeyOptions options) {
        return GlobalRouteHeader.BYTES + options.size();
    }

    /** From here on messages are heard. */
    void join() throws InterruptedException {
        for (int i = 0; i < end.depth(); i++) {
            postReceive(i);
        }
        ConnectionEvent.MulticastJoined unused = end.join(options);
    }

    /** How many messages came from whom. */
    Map<Sender, Integer> receive() throws InterruptedException {
        for (int i = 0; i < options.count(); i++) {
            WorkCompletion message = end.await(options, i, "received");
            int slot = (int) message.wrId();
            check(message);
            GlobalRouteHeader header = GlobalRouteHeader.read(end.memory(), (long) slot * slotBytes);
            if (!header.destinationGid().equals(options.group())) {
                throw new CommandFailure("a message to " + header.destinationGid() + " came, not to the group");
            }
            messages.merge(new Sender(header.sourceGid(), message.sourceQp()), 1, Integer::sum);
            postReceive(slot);
        }
        return messages;
    }

    private void check(WorkCompletion message) {
        long bytes = message.byteLength() - GlobalRouteHeader.BYTES;
        if (bytes != options.size()) {
            throw new CommandFailure("a message of " + bytes + " bytes came; give the sender's -S");
        }
        // mckey tells its queue pair in the immediate data.
        if (message.hasImmediate() && message.immediate() != message.sourceQp()) {
            throw new CommandFailure("a message of queue pair 0x" + Integer.toHexString(message.sourceQp())
                    + " says that it is of 0x" + Integer.toHexString(message.immediate()));
        }
    }

    private void postReceive(int slot) {
        end.queuePair().postReceive(slot, end.region(), (long) slot * slotBytes, slotBytes);
    }
}
