// SPDX-License-Identifier: Apache-2.0
/** The provider {@code soft}: a complete RNIC in user space over ordinary sockets. */
module verbena.soft {
    requires transitive verbena.verbs;
    requires verbena.transport;
    requires verbena.link;
    requires static org.jspecify;

    exports io.verbena.soft;

    provides io.verbena.verbs.spi.VerbsProvider with
            io.verbena.soft.SoftProvider;
}
