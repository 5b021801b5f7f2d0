// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import io.verbena.verbs.DeviceContext;
import java.util.Map;
import java.util.stream.Collectors;

/** What a device counted, for a message about something that did not happen. */
public final class CounterSummary {
    private CounterSummary() {}

    /** All counters that are not zero, behind a separator; empty when there are none. */
    public static String of(DeviceContext device) {
        String counters = device.counters().entrySet().stream()
                .filter(entry -> entry.getValue() != 0)
                .map(CounterSummary::text)
                .collect(Collectors.joining(", "));
        return counters.isEmpty() ? "" : " (" + counters + ")";
    }

    private static String text(Map.Entry<String, Long> entry) {
        return entry.getKey() + " " + entry.getValue();
    }
}
