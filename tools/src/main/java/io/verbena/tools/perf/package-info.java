// SPDX-License-Identifier: Apache-2.0
/** The counterpart of perftest's programs for bandwidth and latency. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.perf;
