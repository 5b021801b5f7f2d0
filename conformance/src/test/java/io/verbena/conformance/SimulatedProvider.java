// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import io.verbena.sim.World;
import io.verbena.verbs.DeviceContext;
import java.time.Duration;
import java.util.List;

/**
 * Software devices on a perfect simulated network, in virtual time. Each test has a world of its own, all of one seed.
 */
final class SimulatedProvider implements ProviderUnderTest {
    private static final long SEED = 1;

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public Devices open() {
        World world = World.builder().seed(SEED).build();
        return new Hosts(world, world.openDevice("10.0.0.1"), world.openDevice("10.0.0.2"));
    }

    @Override
    public boolean listsDevices() {
        return false;
    }

    @Override
    public boolean worksBesideTheProgram() {
        return false;
    }

    private record Hosts(World world, DeviceContext a, DeviceContext b) implements Devices {
        private static final String PREFIX = "sim:";

        /** More than any message of the suite takes, and less than the timeouts after which requests are sent again. */
        private static final Duration SETTLED = Duration.ofMillis(20);

        @Override
        public List<String> others() {
            return List.of(PREFIX + "10.0.0.3", PREFIX + "fd00::1");
        }

        @Override
        public DeviceContext open(String name) {
            return world.openDevice(name.substring(PREFIX.length()));
        }

        @Override
        public void settle() {
            world.run(SETTLED);
        }

        @Override
        public void close() {
            world.close();
        }
    }
}
