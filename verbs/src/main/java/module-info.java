// SPDX-License-Identifier: Apache-2.0
/** The verbs API: devices, protection domains, memory regions, completion queues, queue pairs; and the provider SPI. */
module verbena.verbs {
    requires static org.jspecify;

    exports io.verbena.verbs;
    exports io.verbena.verbs.cm;
    exports io.verbena.verbs.spi;

    uses io.verbena.verbs.spi.VerbsProvider;
}
