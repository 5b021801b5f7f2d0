// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import java.util.List;

/** Writes the table of docs/conformance.md. The same results make the same text. */
public final class Report {
    private static final String INTRODUCTION = """
            # Conformance

            What each provider does of what programs expect of verbs. Every line is tried by tests of the module
            `conformance`, which use the public API only and run on every provider; a test names the lines that it
            tries: `@Conforms("RC-2")`. This file is written from such a run and compared with it in every build:

                ./verbena test -pl conformance -am -Dconformance.update=true

            Levels: **M** must, **S** should, **O** optional. The columns are what the tests ran on:

            - `soft`: two software devices on loopback addresses, with threads and sockets.
            - `simulated`: two software devices on a perfect [simulated network](simulation.md), in virtual time.
              A program makes them rather than finds them in a list, and they work on its thread while it waits.
            - `ibverbs`: real devices. "Not yet": the provider comes later.

            "no: ..." and "yes, without ..." are tests that were skipped, with what the provider said it does not have;
            `target/conformance.tsv` of the module lists each test with its outcome.
            """;

    private Report() {}

    /** The whole file. */
    public static String markdown(List<Behaviour> behaviours, List<String> providers, Results results) {
        StringBuilder text = new StringBuilder(INTRODUCTION);
        String area = "";
        for (Behaviour behaviour : behaviours) {
            if (!behaviour.area().equals(area)) {
                area = behaviour.area();
                text.append("\n## ").append(area).append("\n\n| | | behaviour |");
                providers.forEach(provider -> text.append(' ').append(provider).append(" |"));
                text.append(" ibverbs |\n|---|---|---|")
                        .append("---|".repeat(providers.size() + 1))
                        .append('\n');
            }
            row(text, behaviour, providers, results);
        }
        return text.toString();
    }

    private static void row(StringBuilder text, Behaviour behaviour, List<String> providers, Results results) {
        text.append("| ")
                .append(behaviour.id())
                .append(" | ")
                .append(behaviour.level().letter());
        text.append(" | ").append(behaviour.text()).append(" |");
        for (String provider : providers) {
            text.append(' ').append(results.cell(behaviour, provider)).append(" |");
        }
        text.append(" not yet |\n");
    }
}
