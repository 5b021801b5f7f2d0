// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the demo tells while it goes on: numbered steps in words, or nothing until the end with JSON. */
final class DemoStory {
    private static final String MARGIN = "     ";

    private final PrintWriter out;
    private final boolean silent;
    private final List<Map<String, Object>> steps = new ArrayList<>();

    DemoStory(PrintWriter out, boolean silent) {
        this.out = out;
        this.silent = silent;
    }

    void say(String text) {
        if (!silent) {
            out.println(text);
            out.flush();
        }
    }

    /** Begins a step: what is tried. */
    void step(String name, String what) {
        Map<String, Object> step = new LinkedHashMap<>();
        step.put("step", name);
        steps.add(step);
        say("");
        say(String.format(java.util.Locale.ROOT, "%3d  %s", steps.size(), what));
    }

    /** Ends a step: what came out. */
    void result(String text) {
        steps.getLast().put("result", text);
        say(MARGIN + "-> " + text);
    }

    List<Map<String, Object>> steps() {
        return List.copyOf(steps);
    }
}
