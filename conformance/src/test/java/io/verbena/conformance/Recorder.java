// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Writes down how each test of a behaviour ended, and on which provider. */
final class Recorder implements TestWatcher {
    /** What this run found until now. */
    static final Results RESULTS = new Results();

    @Override
    public void testSuccessful(ExtensionContext context) {
        record(context, Outcome.PASSED, "");
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        String message = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
        record(context, Outcome.SKIPPED, message.replaceFirst("^Assumption failed: ", ""));
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        record(context, Outcome.FAILED, cause.toString());
    }

    @Override
    public void testDisabled(ExtensionContext context, Optional<String> reason) {
        record(context, Outcome.FAILED, "switched off");
    }

    private static void record(ExtensionContext context, Outcome outcome, String reason) {
        Conforms conforms = context.getRequiredTestMethod().getAnnotation(Conforms.class);
        if (conforms == null) {
            return;
        }
        String provider = ((ConformanceSuite) context.getRequiredTestInstance()).provider.name();
        String test = context.getRequiredTestClass().getSimpleName() + "."
                + context.getRequiredTestMethod().getName();
        for (String id : conforms.value()) {
            RESULTS.add(new Results.Result(id, provider, test, outcome, reason));
        }
    }
}
