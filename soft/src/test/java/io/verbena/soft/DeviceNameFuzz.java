// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.RdmaException;
import java.nio.charset.StandardCharsets;

/** Any text is the name of a device, which opens, or is refused with a reason; it is never looked up as a host's. */
public final class DeviceNameFuzz {
    private DeviceNameFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String name = new String(input, StandardCharsets.ISO_8859_1);
        SoftProvider provider = new SoftProvider();
        if (!provider.accepts(name)) {
            return;
        }
        try (DeviceContext device = provider.open(name, DeviceOptions.defaults())) {
            assertThat(device.device().name()).startsWith("rocev2:");
        } catch (RdmaException e) {
            assertThat(e.getMessage()).isNotEmpty();
        }
    }
}
