// SPDX-License-Identifier: Apache-2.0
/** Work that checks itself, and the runs of it under faults. */
@org.jspecify.annotations.NullMarked
package io.verbena.sim.workload;
