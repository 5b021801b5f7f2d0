// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;

/** A message to and fro: the client sends first, each side answers what it received. */
final class SendLatency extends LatencyRun {
    private long receivesPosted;

    SendLatency(PerfContext context, int size, Patience patience) {
        super(context, size, patience);
    }

    @Override
    void prepare() {
        for (int i = 0; i < parameters().receiveDepth(); i++) {
            postReceive();
        }
    }

    @Override
    void exchange() throws InterruptedException {
        long sent = 0;
        long received = 0;
        while (timer().goesOn(sent) || timer().goesOn(received)) {
            boolean first = sent == 0 && parameters().client();
            if (timer().goesOn(received) && !first) {
                if (!receive()) {
                    return;
                }
                received++;
            }
            if (timer().goesOn(sent)) {
                timer().posting();
                post(++sent);
                if (!await(context().sendQueue(), "sending")) {
                    return;
                }
            }
        }
    }

    private boolean receive() throws InterruptedException {
        if (!await(context().receiveQueue(), "receiving")) {
            return false;
        }
        timer().start();
        if (completion().byteLength() != size()) {
            throw new CommandFailure("the peer sends messages of "
                    + completion().byteLength() + " bytes, this side expects " + size() + "; give both the same -s");
        }
        if (parameters().isDuration() || receivesPosted < parameters().iterations()) {
            postReceive();
        }
        return true;
    }

    private void postReceive() {
        context()
                .queuePair(0)
                .postReceive(
                        receivesPosted++,
                        context().receiveAddress(0),
                        size(),
                        context().lkey());
    }
}
