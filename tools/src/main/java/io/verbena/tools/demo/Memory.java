// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SplittableRandom;

/** Fills memory and takes its hash. */
final class Memory {
    private static final long HASH_STEP = 1L << 20;

    private Memory() {}

    static void fillRandomly(MemorySegment memory) {
        SplittableRandom random = new SplittableRandom();
        long words = memory.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, random.nextLong());
        }
        for (long i = words * Long.BYTES; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
    }

    /** SHA-256 in hexadecimal digits. */
    static String hash(MemorySegment memory) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (long i = 0; i < memory.byteSize(); i += HASH_STEP) {
                digest.update(memory.asSlice(i, Math.min(HASH_STEP, memory.byteSize() - i))
                        .asByteBuffer());
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
