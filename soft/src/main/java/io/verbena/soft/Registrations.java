// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;

/** Which memory may be registered, and for what. */
final class Registrations {
    private static final int REMOTE_CHANGE = AccessFlag.mask(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
    /** Some thread that owns no arena. */
    private static final Thread OTHER_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private Registrations() {}

    /** Throws {@link IllegalArgumentException}, with what to do, unless it may. */
    static void check(MemorySegment segment, int access) {
        checkSegment(segment);
        boolean localWrite = (access & AccessFlag.LOCAL_WRITE.code()) != 0;
        if ((access & REMOTE_CHANGE) != 0 && !localWrite) {
            throw new IllegalArgumentException("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too");
        }
        if (localWrite && segment.isReadOnly()) {
            throw new IllegalArgumentException(
                    "the segment is read-only: it can be registered for REMOTE_READ and for sending,"
                            + " not with LOCAL_WRITE");
        }
        if ((access & AccessFlag.FLUSH_PERSISTENT.code()) != 0 && !segment.isMapped()) {
            throw new IllegalArgumentException(
                    "FLUSH_PERSISTENT needs a mapped file: allocate the segment with FileChannel.map");
        }
    }

    private static void checkSegment(MemorySegment segment) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException(
                    "a heap segment cannot be registered, because the garbage collector moves it;"
                            + " allocate from Arena.ofShared() or Arena.ofAuto()");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalArgumentException("the segment's arena is closed");
        }
        if (!segment.isAccessibleBy(OTHER_THREAD)) {
            throw new IllegalArgumentException(
                    "a segment of a confined arena cannot be registered, because the device's thread could not"
                            + " touch it; use Arena.ofShared() or Arena.ofAuto()");
        }
        if (segment.byteSize() == 0) {
            throw new IllegalArgumentException("an empty segment cannot be registered");
        }
        SoftProtectionDomain.limit("the segment's size", segment.byteSize(), 1, Limits.MAX_MR_SIZE, "maxMrSize");
    }
}
