// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

/** Drives an agent in virtual time, without a thread: an application that would wait makes time pass instead. */
final class SteppingDriver extends AgentDriver {
    private final String name;
    private final VirtualTime time;

    SteppingDriver(String name, VirtualTime time) {
        this.name = name;
        this.time = time;
    }

    @Override
    String name() {
        return name;
    }

    @Override
    long nanoTime() {
        return time.nanoTime();
    }

    @Override
    void start() {
        // The owner of the time calls the duty cycle.
    }

    @Override
    void polling() {
        // Nobody needs to stand back.
    }

    @Override
    void polled(int work) {
        if (work == 0) {
            time.polledInVain();
        }
    }

    @Override
    void handOver() {
        // Nobody is there to take over: time has passed already.
    }

    @Override
    boolean goesOn(long start, long deadline) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (deadline - time.nanoTime() <= 0) {
            return false;
        }
        time.advance(deadline);
        return true;
    }

    @Override
    void pause(long ns) {
        time.advance(time.nanoTime() + ns);
    }

    @Override
    void cycled() {
        // The owner of the time looks at deadlines before it makes time pass.
    }

    @Override
    void stop() {
        // The owner of the time finds the link closed.
    }
}
