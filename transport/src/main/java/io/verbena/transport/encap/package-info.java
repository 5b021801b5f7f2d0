// SPDX-License-Identifier: Apache-2.0
/** What lies around the transport packet: outer headers, their checks, and the invariant CRC. */
@org.jspecify.annotations.NullMarked
package io.verbena.transport.encap;
