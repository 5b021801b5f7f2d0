// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

/**
 * What the target finds when it wakes up.
 *
 * @param message what arrived in its first receive, or an empty string
 * @param messages receives that were used
 * @param hash of its large region
 * @param sum the counter that others added to
 * @param cpuNanos CPU time that its program's thread used while others worked with its memory
 */
record TargetReport(String message, long messages, String hash, long sum, long cpuNanos) {}
