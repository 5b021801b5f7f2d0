// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the process holds after garbage collection.
 *
 * @param heap bytes of reachable objects
 * @param resident bytes of the whole process in memory (VmRSS of Linux), 0 where that is not known
 */
record Memory(long heap, long resident) {
    private static final Path STATUS = Path.of("/proc/self/status");

    /** Collects garbage until the heap stays as it is, with time for cleaners to free what objects held. */
    static Memory settled() throws InterruptedException, IOException {
        long before;
        long heap = Long.MAX_VALUE;
        int rounds = 0;
        do {
            before = heap;
            System.gc();
            Thread.sleep(100);
            heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        } while (++rounds < 3 || (heap < before - 1024 && rounds < 20));
        return new Memory(heap, residentNow());
    }

    private static long residentNow() throws IOException {
        if (!Files.exists(STATUS)) {
            return 0;
        }
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return 0;
    }
}
