// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/** Takes reports that a destination did not get a frame: ICMP errors, or a send that the local stack refused. */
@FunctionalInterface
public interface UnreachableHandler {
    /**
     * The address is 128 bits as in {@link io.verbena.wire.Frame}. The errno is a Linux one (see
     * {@code io.verbena.ffi.Errno}): ECONNREFUSED for a closed port. An ICMP error can be forged by anyone who guesses
     * the port: treat it as a hint.
     */
    void onUnreachable(long remoteHigh, long remoteLow, int remotePort, int errno);
}
