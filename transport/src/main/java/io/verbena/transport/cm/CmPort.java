// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.verbs.Mtu;

/**
 * What a connection manager knows of the port that it serves.
 *
 * @param caGuid the GUID of the port's device, which REQ and REP carry
 * @param mtu the largest path MTU that the port can take
 */
public record CmPort(long caGuid, Mtu mtu) {}
