// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * Ties XRC target queue pairs to the shared receive queues that they may deliver to (ibv_xrcd; IBTA volume 1, annex
 * A14). Thread-safe.
 */
public interface XrcDomain extends AutoCloseable {
    DeviceContext context();

    /**
     * Closes the domain.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while queue pairs or shared receive queues use it
     */
    @Override
    void close();
}
