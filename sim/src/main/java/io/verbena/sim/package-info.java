// SPDX-License-Identifier: Apache-2.0
/** Software devices on a faulty fabric in virtual time. Everything follows from a seed. */
@org.jspecify.annotations.NullMarked
package io.verbena.sim;
