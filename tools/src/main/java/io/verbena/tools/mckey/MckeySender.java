// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.cm.ConnectionEvent;

/** Sends to the group; whether anybody hears it, it cannot know. */
final class MckeySender {
    private final MckeyEnd end;
    private final MckeyOptions options;

    MckeySender(MckeyEnd end, MckeyOptions options) {
        this.end = end;
        this.options = options;
    }

    void send() throws InterruptedException {
        ConnectionEvent.MulticastJoined group = end.join(options);
        AddressHandle handle = end.resources().add(end.domain().createAddressHandle(group.address()));
        Thread.sleep(options.pause());
        SendRequest request = end.queuePair().sendRequest();
        int posted = 0;
        for (int done = 0; done < options.count(); done++) {
            for (; posted < options.count() && posted - done < end.depth(); posted++) {
                request.sendWithImmediate(end.queuePair().qpNumber())
                        .sge(end.region(), 0, options.size())
                        .to(handle, group.qpNumber(), group.qkey())
                        .signaled()
                        .post();
            }
            end.await(options, done, "sent");
        }
    }
}
