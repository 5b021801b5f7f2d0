// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.RdmaException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Software devices on loopback addresses that nobody else uses. */
final class SoftProvider implements ProviderUnderTest {
    @Override
    public String name() {
        return "soft";
    }

    @Override
    public Devices open() {
        return new Loopback(openFree(), openFree());
    }

    @Override
    public boolean listsDevices() {
        return true;
    }

    @Override
    public boolean worksBesideTheProgram() {
        return true;
    }

    private static DeviceContext openFree() {
        for (int attempt = 0; ; attempt++) {
            try {
                return io.verbena.verbs.Devices.open(randomName());
            } catch (RdmaException e) {
                if (attempt == 20 || e.reason() != RdmaException.Reason.ADDRESS_IN_USE) {
                    throw e;
                }
            }
        }
    }

    private static String randomName() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "rocev2:127." + random.nextInt(64, 250) + "." + random.nextInt(1, 250) + "." + random.nextInt(1, 250);
    }

    private record Loopback(DeviceContext a, DeviceContext b) implements Devices {
        @Override
        public List<String> others() {
            return io.verbena.verbs.Devices.list().stream()
                    .filter(device -> device.provider().equals("soft"))
                    .map(DeviceInfo::name)
                    .toList();
        }

        @Override
        public DeviceContext open(String name) {
            return io.verbena.verbs.Devices.open(name);
        }

        @Override
        public void settle() {
            // Would be a sleep.
        }

        @Override
        public void close() {}
    }
}
