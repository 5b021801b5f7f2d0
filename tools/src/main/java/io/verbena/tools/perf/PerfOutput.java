// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/** Where the results of a test go, in the order in which they come. */
interface PerfOutput {
    /** What is about to run, on which device. */
    void begin(PerfContext context, String device, String peer);

    /** A queue pair of a side. */
    void endpoint(boolean local, PerfDestination endpoint);

    /** The results follow. */
    void header();

    void bandwidth(BandwidthReport report);

    void latency(LatencyReport report);

    void end();
}
