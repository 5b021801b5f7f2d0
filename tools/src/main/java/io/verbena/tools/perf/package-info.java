// SPDX-License-Identifier: Apache-2.0
/** The counterpart of perftest's ib_{write,read,send,atomic}_{bw,lat}. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.perf;
