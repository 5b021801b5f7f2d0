// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.util.concurrent.ThreadLocalRandom;

/** Loopback addresses that nobody else uses, most likely. */
public final class TestAddresses {
    private TestAddresses() {}

    public static String free() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "127." + random.nextInt(64, 250) + "." + random.nextInt(1, 250) + "." + random.nextInt(1, 250);
    }
}
