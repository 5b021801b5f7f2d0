// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.net.InetAddress;
import java.util.concurrent.ThreadLocalRandom;

/** Loopback addresses that nobody else uses, most likely. */
final class TestAddresses {
    private TestAddresses() {}

    static InetAddress free() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.ofLiteral(
                "127." + random.nextInt(64, 250) + "." + random.nextInt(1, 250) + "." + random.nextInt(1, 250));
    }
}
