// SPDX-License-Identifier: Apache-2.0
/** A guided tour: two processes on one machine, one of them asleep. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.demo;
