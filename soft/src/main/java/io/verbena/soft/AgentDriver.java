// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

/**
 * Who calls an agent's duty cycle besides applications that poll and post, and whose clock it goes by. A production
 * device has a {@link ThreadedDriver}; a program without simulated devices never loads the other one, so that these
 * calls are direct ones.
 */
abstract sealed class AgentDriver permits ThreadedDriver, SteppingDriver {
    /** The time that deadlines are compared with. */
    abstract long nanoTime();

    /** Begins to drive the agent. */
    abstract void start();

    /** Names the device in messages. */
    abstract String name();

    /** An application polls. */
    abstract void polling();

    /** An application's poll found so much to do. */
    abstract void polled(int work);

    /** An application stops polling and goes to sleep. */
    abstract void handOver();

    /** Whether an application that found nothing since {@code start} looks once more before it sleeps. */
    abstract boolean goesOn(long start, long deadline) throws InterruptedException;

    /** Lets some time pass, in which the device works on. */
    abstract void pause(long ns);

    /** Inside the owner lock: a duty cycle ended. */
    abstract void cycled();

    /** Ends driving: the agent is closed. */
    abstract void stop();
}
