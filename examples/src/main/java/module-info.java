// SPDX-License-Identifier: Apache-2.0
/** Programs of librdmacm's examples, written with Verbena. Each can be the other end of its original. */
module verbena.examples {
    requires static org.jspecify;
    requires verbena.verbs;
    requires info.picocli;

    // picocli makes the programs and fills in their options.
    opens io.verbena.examples to
            info.picocli;
}
