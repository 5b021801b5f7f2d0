// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The project's folder, without what is generated or was written elsewhere. */
final class SourceTree {
    private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", ".idea", ".vscode");
    private static final Set<String> FOREIGN_FILES = Set.of("mvnw", "mvnw.cmd", "LICENSE", ".git");

    private SourceTree() {}

    static Path root() {
        return Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
    }

    /** Every text file. A file that is not UTF-8 is taken for a binary one. */
    static List<SourceFile> textFiles() throws IOException {
        List<SourceFile> files = new ArrayList<>();
        Files.walkFileTree(root(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return SKIPPED_FOLDERS.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()
                        && !FOREIGN_FILES.contains(file.getFileName().toString())) {
                    try {
                        files.add(new SourceFile(root().relativize(file), Files.readString(file)));
                    } catch (CharacterCodingException _) {
                        // Binary: captures, images.
                    }
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    /** The folders of the Maven modules. */
    static List<Path> modules() throws IOException {
        try (Stream<Path> folders = Files.list(root())) {
            return folders.filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .sorted()
                    .toList();
        }
    }
}
