// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

/** How a test of a behaviour ended on a provider. */
public enum Outcome {
    PASSED,
    FAILED,
    /** The provider does not offer what the test needs. */
    SKIPPED
}
