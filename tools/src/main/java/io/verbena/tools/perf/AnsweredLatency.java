// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/** READs and atomics: the peer's device answers, its program does nothing. */
final class AnsweredLatency extends LatencyRun {
    AnsweredLatency(PerfContext context, int size, Patience patience) {
        super(context, size, patience);
    }

    @Override
    void exchange() throws InterruptedException {
        timer().start();
        for (long count = 0; timer().goesOn(count); count++) {
            timer().posting();
            post(count);
            if (!await(context().sendQueue(), parameters().verb().title())) {
                return;
            }
        }
    }
}
