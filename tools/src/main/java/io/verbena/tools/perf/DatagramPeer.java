// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.AddressHandle;

/**
 * Where datagrams go.
 *
 * @param qkey what the peer's queue pair wants to see in each
 */
record DatagramPeer(AddressHandle handle, int qpNumber, int qkey) {}
