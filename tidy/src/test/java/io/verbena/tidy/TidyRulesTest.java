// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every rule of {@link TidyTest} finds what it is there for, and leaves the nearest innocent case alone. */
class TidyRulesTest {
    private static final String PATH = "wire/src/main/java/io/verbena/wire/A.java";

    private static List<SourceFile> java(String text) {
        return List.of(SourceFile.of(PATH, text));
    }

    @Test
    void longFile() {
        assertThat(TextRules.filesAreShort(java("x\n".repeat(800)))).isEmpty();
        assertThat(TextRules.filesAreShort(java("x\n".repeat(801)))).hasSize(1);
    }

    @Test
    void longLine() {
        assertThat(TextRules.linesAreShort(java("x".repeat(120)))).isEmpty();
        assertThat(TextRules.linesAreShort(java("\n" + "x".repeat(121)))).containsExactly(PATH + ":2: longer than 120");
        assertThat(TextRules.linesAreShort(List.of(SourceFile.of("run", "#!/bin/sh\n" + "x".repeat(121)))))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"void m() {%s}", "A() {%s}", "static {%s}", "{%s}", "Object o = new Object() { void m() {%s} };"
            })
    void longMethod(String form) throws IOException {
        String text = "class A {\n" + form + "\n}\n";
        assertThat(JavaRules.methodsAreShort(java(text.formatted("\n".repeat(59)))))
                .isEmpty();
        assertThat(JavaRules.methodsAreShort(java(text.formatted("\n".repeat(60)))))
                .hasSize(1);
    }

    @Test
    void braceInAStringDoesNotEndAMethod() throws IOException {
        String text = "class A { void m() { String s = \"}\";" + "\n".repeat(60) + "} }";
        assertThat(JavaRules.methodsAreShort(java(text))).containsExactly(PATH + ":1: method m has 61 lines");
    }

    @Test
    void tab() {
        assertThat(TextRules.noTabs(java("int  a;"))).isEmpty();
        assertThat(TextRules.noTabs(java("int\ta;"))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"// TO" + "DO: later", "/* FIX" + "ME */", "@Dis" + "abled(\"slow\")", "@Ig" + "nore"})
    void unfinished(String text) {
        assertThat(TextRules.nothingUnfinished(java(text))).hasSize(1);
        assertThat(TextRules.nothingUnfinished(java("int todos; boolean isDisabled; @IgnoreMe")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"see /wo" + "rk/x", "\"/ro" + "ot/.m2\"", "(/ho" + "me/me/x)", "/wo" + "rk/x"})
    void machinePath(String text) {
        assertThat(TextRules.noMachinePaths(List.of(SourceFile.of("docs/a.md", text))))
                .hasSize(1);
        assertThat(TextRules.noMachinePaths(List.of(SourceFile.of("a.md", "target/work/x $root/home/ at work/root"))))
                .isEmpty();
    }

    @Test
    void missingLicence() {
        assertThat(TextRules.licenceOnTop(java("package a;"))).hasSize(1);
        assertThat(TextRules.licenceOnTop(java("// SPDX-License-Identifier: Apache-2.0\npackage a;")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "package a;", "/** */ @NullMarked package a;", "/** Says it. */ package a;"})
    void packageWithoutDescription(String info) {
        SourceFile type = SourceFile.of(PATH, "class A {}");
        String path = "wire/src/main/java/io/verbena/wire/package-info.java";
        assertThat(TextRules.packagesAreDescribed(List.of(type, SourceFile.of(path, info))))
                .hasSize(1);
        SourceFile good = SourceFile.of(path, "/**\n * Says it.\n */\n@NullMarked\npackage a;");
        assertThat(TextRules.packagesAreDescribed(List.of(type, good))).isEmpty();
        assertThat(TextRules.packagesAreDescribed(List.of(type))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"public class A {}", "/* No doc. */ public record A() {}", "public enum A { B }"})
    void publicTypeWithoutDescription(String text) throws IOException {
        assertThat(JavaRules.publicTypesAreDescribed(java(text))).hasSize(1);
        assertThat(JavaRules.publicTypesAreDescribed(java("/** Doc. */ " + text)))
                .isEmpty();
        assertThat(JavaRules.publicTypesAreDescribed(java("class A {}"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<scope>compile</scope>", "<scope>runtime</scope>"})
    void libraryInACoreModule(String scope) throws Exception {
        String pom = "<project><dependencies><dependency><groupId>%s</groupId><artifactId>a</artifactId>%s</dependency>"
                + "</dependencies></project>";
        assertThat(PomRules.coreNeedsOnlyTheJdk(poms("wire", pom.formatted("org.agrona", scope))))
                .hasSize(1);
        assertThat(PomRules.coreNeedsOnlyTheJdk(poms("wire", pom.formatted("io.verbena", scope))))
                .isEmpty();
        assertThat(PomRules.coreNeedsOnlyTheJdk(poms("wire", pom.formatted("org.agrona", "<scope>test</scope>"))))
                .isEmpty();
        assertThat(PomRules.coreNeedsOnlyTheJdk(poms("tools", pom.formatted("org.agrona", scope))))
                .isEmpty();
    }

    private static List<SourceFile> poms(String module, String text) {
        return List.of(SourceFile.of(module + "/pom.xml", text));
    }
}
