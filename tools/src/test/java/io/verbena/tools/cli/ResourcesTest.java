// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ResourcesTest {
    @Test
    void theLastOpenedIsClosedFirstAndAFailureStopsNothing() {
        List<String> closed = new ArrayList<>();
        Resources resources = new Resources();
        resources.add(() -> closed.add("first"));
        resources.add(() -> {
            throw new IllegalStateException("busy");
        });
        resources.add(() -> closed.add("last"));
        resources.close();
        resources.close();
        assertThat(closed).containsExactly("last", "first");
    }

    @Test
    void whatIsOpenedTooLateIsClosedAtOnce() {
        List<String> closed = new ArrayList<>();
        Resources resources = new Resources();
        resources.close();
        assertThatThrownBy(() -> resources.add(() -> closed.add("late"))).isInstanceOf(CommandFailure.class);
        assertThat(closed).containsExactly("late");
    }

    @Test
    void progressShowsAfterAWhileAndLeavesNothingBehind() throws Exception {
        StringWriter text = new StringWriter();
        AtomicInteger count = new AtomicInteger();
        Progress progress = Progress.start(new PrintWriter(text), () -> "done " + count.incrementAndGet(), true);
        Thread.sleep(2700);
        progress.close();
        assertThat(text.toString()).startsWith("\rdone 1").contains("\rdone 2").endsWith("\r");
        StringWriter quiet = new StringWriter();
        Progress.start(new PrintWriter(quiet), () -> "x", false).close();
        Progress.start(new PrintWriter(quiet), () -> "x", true).close();
        assertThat(quiet.toString()).isEmpty();
    }
}
