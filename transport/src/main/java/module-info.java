// SPDX-License-Identifier: Apache-2.0
/** The RNIC as pure state machines: no I/O, no clock, no threads, no randomness but a seed. */
module verbena.transport {
    requires transitive verbena.verbs;
    requires transitive verbena.wire;
    requires static org.jspecify;

    exports io.verbena.transport.cm;
    exports io.verbena.transport.encap;
    exports io.verbena.transport.ib;
    exports io.verbena.transport.memory;
    exports io.verbena.transport.queue;
}
