// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements with JMH. Each has the other side of its comparison in the same class, so that one run gives a ratio.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.bench;
