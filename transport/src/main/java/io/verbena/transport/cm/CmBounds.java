// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/**
 * How much a connection manager remembers at most, whatever peers send.
 *
 * @param conversations conversations that are not over
 * @param halfOpen passive conversations that are not established, of all listeners
 * @param timewaits conversations in timewait; one more ends the oldest early
 * @param listeners services that are listened to
 * @param repliesPerSecond answers to messages that belong to nothing; as many may go out at once
 */
public record CmBounds(int conversations, int halfOpen, int timewaits, int listeners, int repliesPerSecond) {
    public static final CmBounds DEFAULT = new CmBounds(1 << 16, 1024, 1 << 14, 1024, 1000);
}
