// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import java.time.Duration;

/**
 * How to connect (rdma_conn_param and the options of rdma_set_option). Given to connect and accept it is what this side
 * wants; in an event it is what the other side said, from the view of this side. Immutable: each {@code with} method
 * returns a copy and checks its value.
 *
 * @param privateData for the program on the other side; the message's limit is {@link ConnectionId#privateDataMax}
 * @param responderResources READs and atomics that this side answers at a time, 0 to 255; the device's limit and what
 *     the other side wants lower it
 * @param initiatorDepth READs and atomics that this side has under way at a time, 0 to 255; lowered likewise
 * @param retryCount how often a packet that nobody acknowledges is repeated, 0 to 7
 * @param rnrRetryCount how often a message is tried again for which no receive was posted, 0 to 6; 7 is without end
 * @param minRnrTimer how long this side makes the sender wait then, the encoding of IBTA volume 1, table 46: 12 is 0.64
 *     ms
 * @param ackTimeout how long to wait for an acknowledgement: 4.096 us times 2 to this power, 0 to 31
 * @param timeout when an attempt to connect ends without an answer
 * @param keepAlive how long the other side of an idle connection may be silent before it is asked whether it is there;
 *     the connection ends after as long again without an answer. Zero, the default, never asks: a peer that is gone is
 *     noticed when something is sent
 */
public record ConnectionParameters(
        PrivateData privateData,
        int responderResources,
        int initiatorDepth,
        int retryCount,
        int rnrRetryCount,
        int minRnrTimer,
        int ackTimeout,
        Duration timeout,
        Duration keepAlive) {
    private static final ConnectionParameters DEFAULTS =
            new ConnectionParameters(PrivateData.NONE, 16, 16, 7, 7, 12, 14, Duration.ofSeconds(10), Duration.ZERO);

    /** @throws IllegalArgumentException if a value is out of its range */
    public ConnectionParameters {
        check("responderResources", responderResources, 255);
        check("initiatorDepth", initiatorDepth, 255);
        check("retryCount", retryCount, 7);
        check("rnrRetryCount", rnrRetryCount, 7);
        check("minRnrTimer", minRnrTimer, 31);
        check("ackTimeout", ackTimeout, 31);
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout is " + timeout + "; it must be more than 0");
        }
        if (keepAlive.isNegative()) {
            throw new IllegalArgumentException("keepAlive is " + keepAlive + "; it must be 0 or more");
        }
    }

    private static void check(String name, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(name + " is " + value + "; 0 to " + most + " is possible");
        }
    }

    /**
     * No private data, 16 READs each way, 7 retries of 67 ms, receives that are missing waited for without end, in
     * steps of 0.64 ms, 10 seconds to connect.
     */
    public static ConnectionParameters defaults() {
        return DEFAULTS;
    }

    public ConnectionParameters withPrivateData(PrivateData data) {
        return new ConnectionParameters(
                data,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                minRnrTimer,
                ackTimeout,
                timeout,
                keepAlive);
    }

    public ConnectionParameters withReads(int resources, int depth) {
        return new ConnectionParameters(
                privateData, resources, depth, retryCount, rnrRetryCount, minRnrTimer, ackTimeout, timeout, keepAlive);
    }

    public ConnectionParameters withRetries(int retries, int rnrRetries) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retries,
                rnrRetries,
                minRnrTimer,
                ackTimeout,
                timeout,
                keepAlive);
    }

    public ConnectionParameters withMinRnrTimer(int timer) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                timer,
                ackTimeout,
                timeout,
                keepAlive);
    }

    public ConnectionParameters withAckTimeout(int exponent) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                minRnrTimer,
                exponent,
                timeout,
                keepAlive);
    }

    public ConnectionParameters withTimeout(Duration most) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                minRnrTimer,
                ackTimeout,
                most,
                keepAlive);
    }

    public ConnectionParameters withKeepAlive(Duration silence) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                retryCount,
                rnrRetryCount,
                minRnrTimer,
                ackTimeout,
                timeout,
                silence);
    }
}
