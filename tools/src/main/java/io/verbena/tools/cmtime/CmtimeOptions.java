// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import java.time.Duration;

/**
 * What a client was asked for.
 *
 * @param retries of an address that does not resolve, and of packets
 * @param timeoutMillis for an address or a route
 * @param connectTimeout for a connection
 */
record CmtimeOptions(int connections, int retries, int timeoutMillis, Duration connectTimeout) {}
