// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Runs after all other classes: no line of the catalogue is forgotten, and the table in docs is what the run found. */
@Order(Integer.MAX_VALUE)
class ConformanceReportTest {
    private static final Path TABLE = Path.of("..", "docs", "conformance.md");
    private static final Path TARGET = Path.of("target");

    private static List<Class<?>> suites;

    @BeforeAll
    static void findSuites() throws IOException {
        suites = new ArrayList<>();
        try (Stream<Path> files = Files.walk(TARGET.resolve("test-classes/io/verbena/conformance"))) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith("Test.class")).toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                suites.add(loadClass("io.verbena.conformance." + name));
            }
        }
        suites.removeIf(type -> !ConformanceSuite.class.isAssignableFrom(type));
        assertThat(suites).isNotEmpty();
    }

    private static Class<?> loadClass(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static Set<String> idsWithTests() {
        return suites.stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .map(method -> method.getAnnotation(Conforms.class))
                .filter(conforms -> conforms != null)
                .flatMap(conforms -> Arrays.stream(conforms.value()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void everyBehaviourThatIsHeldToHasATest() {
        Set<String> untested = Catalogue.load().stream()
                .filter(Behaviour::isHeldTo)
                .map(Behaviour::id)
                .collect(Collectors.toCollection(TreeSet::new));
        untested.removeAll(idsWithTests());
        assertThat(untested).isEmpty();
    }

    @Test
    void testsNameBehavioursOfTheCatalogueOnly() {
        assertThat(Catalogue.load())
                .extracting(Behaviour::id)
                .doesNotHaveDuplicates()
                .containsAll(idsWithTests());
    }

    private static Set<String> testsThatRan(String provider) {
        return Recorder.RESULTS.all().stream()
                .filter(result -> result.provider().equals(provider))
                .map(Results.Result::test)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void assumeFullRun() {
        Set<String> ran =
                Recorder.RESULTS.all().stream().map(Results.Result::id).collect(Collectors.toCollection(TreeSet::new));
        assumeTrue(ran.equals(idsWithTests()), "only a part of the suite ran");
    }

    @Test
    void noLineIsEmptyForSoft() {
        assumeFullRun();
        assertThat(Recorder.RESULTS.emptyLines(Catalogue.load(), "soft")).isEmpty();
    }

    @Test
    void everyTestRanOnEveryProvider() {
        assumeFullRun();
        assertThat(OnEveryProvider.Providers.names())
                .allSatisfy(provider -> assertThat(testsThatRan(provider)).isEqualTo(testsThatRan("soft")));
    }

    @Test
    void theTableIsWhatTheRunFound() throws IOException {
        assumeFullRun();
        Results results = Recorder.RESULTS;
        Files.writeString(TARGET.resolve("conformance.tsv"), results.toTsv(), StandardCharsets.UTF_8);
        System.out.println("conformance: " + results.count(Outcome.PASSED) + " passed, "
                + results.count(Outcome.SKIPPED) + " skipped, " + results.count(Outcome.FAILED) + " failed");
        String text = Report.markdown(Catalogue.load(), OnEveryProvider.Providers.names(), results);
        if (Boolean.getBoolean("conformance.update")) {
            Files.writeString(TABLE, text, StandardCharsets.UTF_8);
        }
        assertThat(TABLE)
                .as("the table of this run; write it with -Dconformance.update=true")
                .content(StandardCharsets.UTF_8)
                .isEqualTo(text);
    }
}
