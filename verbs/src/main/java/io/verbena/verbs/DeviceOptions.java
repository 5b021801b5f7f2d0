// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How to open a device.
 *
 * @param captureFile a pcapng file that receives every frame the device sends and receives; software devices only
 */
public record DeviceOptions(Optional<Path> captureFile) {
    private static final DeviceOptions DEFAULTS = new DeviceOptions(Optional.empty());

    public static DeviceOptions defaults() {
        return DEFAULTS;
    }

    public DeviceOptions withCaptureFile(Path file) {
        return new DeviceOptions(Optional.of(file));
    }
}
