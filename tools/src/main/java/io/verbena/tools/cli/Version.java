// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import io.verbena.verbs.Devices;
import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "verbena " + number(), "Java " + Runtime.version() + " on " + System.getProperty("os.name", "?"),
        };
    }

    private static String number() {
        return Optional.ofNullable(Version.class.getModule().getDescriptor())
                .flatMap(java.lang.module.ModuleDescriptor::rawVersion)
                .or(() -> Optional.ofNullable(Version.class.getPackage().getImplementationVersion()))
                .or(() -> Optional.ofNullable(Devices.class.getPackage().getImplementationVersion()))
                .orElse("(development build)");
    }
}
