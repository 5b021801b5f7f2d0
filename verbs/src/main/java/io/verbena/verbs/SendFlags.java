// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Flags of a send work request, or-ed into an int so that posting allocates nothing (ibv_send_flags, same values). */
public final class SendFlags {
    public static final int NONE = 0;
    /** Wait for earlier READs and atomics of this queue pair. */
    public static final int FENCE = 1;
    /** Make a completion on success. */
    public static final int SIGNALED = 1 << 1;
    /** Wake a peer that armed its queue for solicited completions only. */
    public static final int SOLICITED = 1 << 2;
    /** Copy the payload into the queue now; the buffer may be reused at once and needs no registration. */
    public static final int INLINE = 1 << 3;

    private SendFlags() {}
}
