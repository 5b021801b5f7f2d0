// SPDX-License-Identifier: Apache-2.0
/** The rings of a software RNIC: fixed-size binary slots, one producer and one consumer side each. */
@org.jspecify.annotations.NullMarked
package io.verbena.transport.queue;
