// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import java.nio.file.Path;
import java.util.List;

/** A text file of the project: its path from the root, and what it says. */
record SourceFile(Path path, String text) {
    static SourceFile of(String path, String text) {
        return new SourceFile(Path.of(path), text);
    }

    List<String> lines() {
        return text.lines().toList();
    }

    boolean isJava() {
        return name().endsWith(".java");
    }

    boolean isMainJava() {
        return isJava() && path.toString().contains("src/main/java");
    }

    boolean isScript() {
        return text.startsWith("#!");
    }

    String name() {
        return path.getFileName().toString();
    }

    String at(int lineNumber, String complaint) {
        return path + ":" + lineNumber + ": " + complaint;
    }
}
