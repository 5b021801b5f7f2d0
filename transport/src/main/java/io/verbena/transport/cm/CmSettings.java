// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/**
 * Times and bounds of a connection manager. Times in nanoseconds.
 *
 * @param caGuid the device's GUID, which REQ and REP carry; 0 for a random one
 * @param retryFirst how long to wait for an answer before the first repetition; each further wait is twice as long
 * @param retryMax the longest such wait
 * @param repliesMax how often a REP is repeated; the time of a REQ is limited by its deadline
 * @param disconnectsMax how often a DREQ is repeated
 * @param waitMax the longest wait that the other side's MRA can ask for
 * @param responseTimeout how long the other side is told to wait for an answer, 4.096 us times 2 to this power
 * @param timewaitMin the shortest timewait
 * @param timewaitMax the longest timewait
 * @param conversationsMax conversations that are not over
 * @param halfOpenMax passive conversations that are not established, of all listeners
 * @param timewaitsMax conversations in timewait; one more ends the oldest early
 * @param listenersMax services that are listened to
 * @param repliesPerSecond answers to messages that belong to nothing; as many may go out at once
 */
public record CmSettings(
        long caGuid,
        long retryFirst,
        long retryMax,
        int repliesMax,
        int disconnectsMax,
        long waitMax,
        int responseTimeout,
        long timewaitMin,
        long timewaitMax,
        int conversationsMax,
        int halfOpenMax,
        int timewaitsMax,
        int listenersMax,
        int repliesPerSecond) {

    private static final long MS = 1_000_000;

    public static CmSettings defaults() {
        return new CmSettings(
                0,
                250 * MS,
                2_000 * MS,
                6,
                4,
                60_000 * MS,
                16,
                50 * MS,
                5_000 * MS,
                1 << 16,
                1024,
                1 << 14,
                1024,
                1000);
    }

    public CmSettings withCaGuid(long guid) {
        return new CmSettings(
                guid,
                retryFirst,
                retryMax,
                repliesMax,
                disconnectsMax,
                waitMax,
                responseTimeout,
                timewaitMin,
                timewaitMax,
                conversationsMax,
                halfOpenMax,
                timewaitsMax,
                listenersMax,
                repliesPerSecond);
    }

    public CmSettings withBounds(int conversations, int halfOpen, int timewaits) {
        return new CmSettings(
                caGuid,
                retryFirst,
                retryMax,
                repliesMax,
                disconnectsMax,
                waitMax,
                responseTimeout,
                timewaitMin,
                timewaitMax,
                conversations,
                halfOpen,
                timewaits,
                listenersMax,
                repliesPerSecond);
    }
}
