// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A way to a peer that datagrams name as their destination (ibv_ah; IBTA volume 1, 10.2.2). One handle serves any
 * number of sends, queue pairs of its protection domain and queue pairs of the peer. Thread-safe.
 */
public interface AddressHandle extends AutoCloseable {
    ProtectionDomain protectionDomain();

    AddressVector addressVector();

    /** Destroys the handle (ibv_destroy_ah). Sends that name it and are not carried out yet complete with an error. */
    @Override
    void close();
}
