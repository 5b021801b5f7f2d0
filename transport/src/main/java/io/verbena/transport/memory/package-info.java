// SPDX-License-Identifier: Apache-2.0
/** Keys, regions and the checks between a request and memory; copying to and from registered memory. */
@org.jspecify.annotations.NullMarked
package io.verbena.transport.memory;
