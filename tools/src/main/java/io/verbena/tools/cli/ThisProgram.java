// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How to start a second process of this program. */
public final class ThisProgram {
    private ThisProgram() {}

    /** This program once more: the same Java, the same modules or class path. */
    public static List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current()
                .info()
                .command()
                .orElse(Path.of(System.getProperty("java.home", ""), "bin", "java")
                        .toString()));
        // Two JVMs on a small machine: neither needs much.
        command.add("-XX:+UseSerialGC");
        String modulePath = System.getProperty("jdk.module.path");
        Module module = ThisProgram.class.getModule();
        String main = "io.verbena.tools.Verbena";
        if (module.isNamed() && modulePath != null) {
            if (ModuleLayer.boot().findModule("verbena.ffi").isPresent()) {
                command.add("--enable-native-access=verbena.ffi");
            }
            command.add("--module-path");
            command.add(modulePath);
            command.add("--module");
            command.add(module.getName() + "/" + main);
        } else {
            command.add("--enable-native-access=ALL-UNNAMED");
            command.add("--class-path");
            command.add(System.getProperty("java.class.path", ""));
            command.add(main);
        }
        return command;
    }
}
