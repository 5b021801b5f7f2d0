// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Kinds of memory window (IBTA volume 1, 10.6.7.2). */
public enum MemoryWindowType {
    /** Bound by {@link QueuePair#bind}; belongs to a protection domain; its key is chosen by the device. */
    TYPE_1,
    /**
     * Bound by {@link SendRequest#bind}; belongs to the queue pair that bound it (type 2B); the program chooses the low
     * 8 bits of its key. It must be invalidated, by this side or by the peer, before it can be bound again.
     */
    TYPE_2
}
