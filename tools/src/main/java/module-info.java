// SPDX-License-Identifier: Apache-2.0
/** The {@code verbena} command. Devices come from whichever providers are on the module path. */
module verbena.tools {
    requires static org.jspecify;
    requires verbena.verbs;
    requires verbena.sim;
    requires info.picocli;
    requires HdrHistogram;
    requires tools.jackson.jr.ob;
    requires java.management;

    // picocli makes the commands and fills in their options.
    opens io.verbena.tools to
            info.picocli;
    opens io.verbena.tools.cli to
            info.picocli;
    opens io.verbena.tools.devices to
            info.picocli;
    opens io.verbena.tools.pingpong to
            info.picocli;
    opens io.verbena.tools.perf to
            info.picocli;
    opens io.verbena.tools.mckey to
            info.picocli;
    opens io.verbena.tools.cmtime to
            info.picocli;
    opens io.verbena.tools.rping to
            info.picocli;
    opens io.verbena.tools.simulate to
            info.picocli;
    opens io.verbena.tools.demo to
            info.picocli;
}
