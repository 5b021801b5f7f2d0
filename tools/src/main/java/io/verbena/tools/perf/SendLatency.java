// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;

/** A message to and fro: the client sends first, each side answers what it received. */
final class SendLatency extends LatencyRun {
    private long postedInRun;

    SendLatency(PerfContext context, int size, Patience patience) {
        super(context, size, patience);
    }

    @Override
    void prepare() {
        while (context().receivesPosted(0) < parameters().receiveDepth()) {
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
        context().received(0);
        if (completion().byteLength() != context().receiveBytes(size())) {
            throw new CommandFailure("the peer sends messages of "
                    + (completion().byteLength() - context().receiveBytes(0)) + " bytes, this side expects " + size()
                    + "; give both the same -s");
        }
        if (parameters().isDuration() || postedInRun < parameters().iterations()) {
            postReceive();
        }
        return true;
    }

    private void postReceive() {
        context().postReceive(0, size());
        postedInRun++;
    }
}
