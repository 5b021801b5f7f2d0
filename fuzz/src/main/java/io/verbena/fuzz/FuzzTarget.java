// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A test class named {@code SomethingFuzz} with a method {@code public static void fuzzerTestOneInput(byte[])}, which
 * throws when the bytes uncover a fault. Its corpus are the files of {@code src/test/resources/fuzz/something}. Jazzer
 * runs it under {@code ./verbena fuzz}; every test run replays the corpus.
 *
 * @param name in lower case, words joined by hyphens: {@code queue-pair} for {@code QueuePairFuzz}
 * @param corpus the folder of its inputs
 */
public record FuzzTarget(String name, Method method, Path corpus) {
    private static final String SUFFIX = "Fuzz";
    private static final String CLASS_FILE = SUFFIX + ".class";

    /** All targets among the test classes of the module that {@code test} belongs to. */
    public static List<FuzzTarget> beside(Class<?> test) {
        try {
            Path root = Path.of(
                    test.getProtectionDomain().getCodeSource().getLocation().toURI());
            try (Stream<Path> files = Files.walk(root)) {
                return files.filter(file -> file.toString().endsWith(CLASS_FILE))
                        .map(file -> of(root, file, test.getClassLoader()))
                        .toList();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("the classes are in no folder", e);
        }
    }

    private static FuzzTarget of(Path root, Path file, ClassLoader loader) {
        String path = root.relativize(file).toString();
        String className = path.substring(0, path.length() - ".class".length())
                .replace(file.getFileSystem().getSeparator(), ".");
        try {
            Class<?> type = Class.forName(className, true, loader);
            String words =
                    type.getSimpleName().substring(0, type.getSimpleName().length() - SUFFIX.length());
            String name = words.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
            Method method = type.getMethod("fuzzerTestOneInput", byte[].class);
            return new FuzzTarget(name, method, root.resolve("fuzz").resolve(name));
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(className + " is named as a fuzz target and is none", e);
        }
    }

    /**
     * Runs every file of the corpus, and no bytes at all.
     *
     * @throws AssertionError that names the file which uncovered a fault, or if there is no corpus
     */
    public void replay() throws IOException {
        List<Path> inputs = List.of();
        if (Files.isDirectory(corpus)) {
            try (Stream<Path> files = Files.list(corpus)) {
                inputs = files.sorted().toList();
            }
        }
        if (inputs.isEmpty()) {
            throw new AssertionError("fuzz target " + name + " has no corpus: src/test/resources/fuzz/" + name);
        }
        run("no bytes", new byte[0]);
        for (Path input : inputs) {
            run(input.getFileName().toString(), Files.readAllBytes(input));
        }
    }

    private void run(String input, byte[] bytes) {
        try {
            method.invoke(null, (Object) bytes);
        } catch (InvocationTargetException e) {
            throw new AssertionError("fuzz target " + name + ", input " + input + ": " + e.getCause(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException("fuzz target " + name + " is not public", e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
