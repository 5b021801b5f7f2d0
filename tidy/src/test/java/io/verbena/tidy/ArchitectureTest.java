// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The classes of all modules keep the architecture's rules, and classes made to break one are caught. */
class ArchitectureTest {
    private static JavaClasses project;
    private static JavaClasses fixture;

    @BeforeAll
    static void load() throws IOException {
        List<Path> outputs = new ArrayList<>();
        for (Path module : SourceTree.modules()) {
            if (Files.exists(module.resolve("src/main/java"))) {
                assertThat(module.resolve("target/classes"))
                        .as("compiled classes of %s (run the build from the root)", module.getFileName())
                        .isDirectory();
                outputs.add(module.resolve("target/classes"));
            }
        }
        project = new ClassFileImporter().importPaths(outputs);
        fixture = new ClassFileImporter().importPackages("io.verbena.tidy.fixture");
        assertThat(project).isNotEmpty();
    }

    static Stream<Arguments> rules() {
        return Stream.of(
                rule("transportDoesNoIo", Architecture::transportDoesNoIo, 4),
                rule("transportHasNoClock", Architecture::transportHasNoClock, 3),
                rule("transportIsDeterministic", Architecture::transportIsDeterministic, 3),
                rule("ibKnowsNoIwarp", Architecture::ibKnowsNoIwarp, 1),
                rule("iwarpKnowsNoIb", Architecture::iwarpKnowsNoIb, 1),
                rule("providersAreNotNamed", Architecture::providersAreNotNamed, 1),
                rule("wireHasNoState", Architecture::wireHasNoState, 1),
                rule("wireDoesNoIo", Architecture::wireDoesNoIo, 2),
                rule("onlyFfiCallsNativeCode", Architecture::onlyFfiCallsNativeCode, 1),
                rule("coreDoesNotPrint", Architecture::coreDoesNotPrint, 1));
    }

    private static Arguments rule(String name, Function<Architecture, ArchRule> rule, int breakers) {
        return Arguments.of(name, rule, breakers);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void projectKeeps(String name, Function<Architecture, ArchRule> rule, int breakers) {
        rule.apply(new Architecture("io.verbena")).check(project);
    }

    /** Each way to break the rule has a class of its own in the fixture, named after the rule. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void breakersAreCaught(String name, Function<Architecture, ArchRule> rule, int breakers) {
        EvaluationResult result =
                rule.apply(new Architecture("io.verbena.tidy.fixture")).evaluate(fixture);
        List<String> complaints = result.getFailureReport().getDetails();
        List<String> named = fixture.stream()
                .map(type -> type.getSimpleName())
                .filter(type ->
                        type.toLowerCase(java.util.Locale.ROOT).startsWith(name.toLowerCase(java.util.Locale.ROOT)))
                .toList();
        assertThat(named).hasSize(breakers);
        assertThat(named).allSatisfy(type -> assertThat(complaints).anyMatch(line -> line.contains("$" + type)));
        assertThat(complaints).allMatch(line -> named.stream().anyMatch(line::contains));
    }

    @Test
    void everyModuleIsSeen() throws IOException {
        for (Path module : SourceTree.modules()) {
            if (Files.exists(module.resolve("src/main/java"))) {
                assertThat(project)
                        .as("classes of %s", module.getFileName())
                        .anyMatch(type -> type.getPackageName().startsWith("io.verbena." + module.getFileName()));
            }
        }
    }
}
