// SPDX-License-Identifier: Apache-2.0
/** The provider {@code soft}: a complete RNIC in user space over ordinary sockets. */
@SuppressWarnings("module") // verbena.sim is compiled after this module
module verbena.soft {
    requires transitive verbena.verbs;
    requires verbena.transport;
    requires verbena.link;
    requires static org.jspecify;

    // A provider is found by its service; the simulator makes devices in virtual time.
    exports io.verbena.soft to
            verbena.sim;

    provides io.verbena.verbs.spi.VerbsProvider with
            io.verbena.soft.SoftProvider;
}
