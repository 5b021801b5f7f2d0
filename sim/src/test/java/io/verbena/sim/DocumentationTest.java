// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The example in the documentation is the one that {@link FirstMessageTest} compiles and runs. */
class DocumentationTest {
    @Test
    void theExampleIsTheTestedOne() throws IOException {
        Path root = Path.of("").toAbsolutePath().getParent();
        String test = Files.readString(root.resolve("sim/src/test/java/io/verbena/sim/FirstMessageTest.java"));
        String marked = test.substring(test.indexOf("// example\n") + 11, test.indexOf("// end"));
        String example = marked.stripIndent().strip();
        String document = Files.readString(root.resolve("docs/simulation.md"));
        assertThat(example.lines()).hasSizeGreaterThan(10);
        assertThat(Arrays.asList(document.split("```"))).contains("java\n" + example + "\n");
    }
}
