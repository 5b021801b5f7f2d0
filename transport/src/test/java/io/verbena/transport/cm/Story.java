// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

/** What a consumer was told about one conversation, which must make sense. */
final class Story {
    final List<String> events = new ArrayList<>();
    /** Of an attempt. */
    long deadline;

    /** The consumer wants no more events. */
    boolean abandoned;

    boolean told(String event) {
        return events.contains(event);
    }

    boolean isOver() {
        return abandoned || told("rejected") || told("unreachable") || told("disconnected");
    }

    /** Everything once, one end, nothing but the end of timewait after it. */
    void tell(String event) {
        assertThat(abandoned)
                .as("%s after %s and being abandoned", event, events)
                .isFalse();
        assertThat(events).doesNotContain(event);
        if (isOver()) {
            assertThat(event).as("after %s", events).isEqualTo("timewait exit");
        } else {
            assertThat(event).as("after %s", events).isNotEqualTo("timewait exit");
        }
        events.add(event);
    }
}
