// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import io.verbena.tools.cli.MulticastGroup;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.SendRequest;

/** Sends to the group; whether anybody hears it, it cannot know. */
final class MckeySender {
    private final MckeyEnd end;
    private final MckeyOptions options;
    private final AddressHandle handle;

    MckeySender(MckeyEnd end, MckeyOptions options, GidEntry gid) {
        this.end = end;
        this.options = options;
        handle = end.resources()
                .add(end.domain()
                        .createAddressHandle(
                                new AddressVector(options.group(), gid.index(), 0, AddressVector.HOP_LIMIT, 0, 0)));
    }

    void send() throws InterruptedException {
        Thread.sleep(options.pause());
        SendRequest request = end.queuePair().sendRequest();
        int posted = 0;
        for (int done = 0; done < options.count(); done++) {
            for (; posted < options.count() && posted - done < end.depth(); posted++) {
                request.sendWithImmediate(end.queuePair().qpNumber())
                        .sge(end.region(), 0, options.size())
                        .to(handle, MulticastGroup.QP_NUMBER, MckeyEnd.QKEY)
                        .signaled()
                        .post();
            }
            end.await(options, done, "sent");
        }
    }
}
