// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The project's own files keep the rules. */
class TidyTest {
    private static List<SourceFile> files;

    @BeforeAll
    static void read() throws IOException {
        files = SourceTree.textFiles();
        assertThat(files)
                .as("the walk saw the project")
                .anyMatch(file -> file.path().toString().equals("pom.xml"))
                .anyMatch(SourceFile::isMainJava)
                .anyMatch(SourceFile::isScript);
    }

    @Test
    void filesAreShort() {
        assertThat(TextRules.filesAreShort(files)).isEmpty();
    }

    @Test
    void linesAreShort() {
        assertThat(TextRules.linesAreShort(files)).isEmpty();
    }

    @Test
    void methodsAreShort() throws IOException {
        assertThat(JavaRules.methodsAreShort(files)).isEmpty();
    }

    @Test
    void noTabs() {
        assertThat(TextRules.noTabs(files)).isEmpty();
    }

    @Test
    void nothingUnfinished() {
        assertThat(TextRules.nothingUnfinished(files)).isEmpty();
    }

    @Test
    void noMachinePaths() {
        assertThat(TextRules.noMachinePaths(files)).isEmpty();
    }

    @Test
    void licenceOnTop() {
        assertThat(TextRules.licenceOnTop(files)).isEmpty();
    }

    @Test
    void packagesAreDescribed() {
        assertThat(TextRules.packagesAreDescribed(files)).isEmpty();
    }

    @Test
    void publicTypesAreDescribed() throws IOException {
        assertThat(JavaRules.publicTypesAreDescribed(files)).isEmpty();
    }

    @Test
    void coreNeedsOnlyTheJdk() throws Exception {
        assertThat(PomRules.coreNeedsOnlyTheJdk(files)).isEmpty();
    }
}
