// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OneLineTest {
    @Test
    void aLineStaysAsItIs() {
        assertThat(OneLine.of("port 1 is in use; Größe 5")).isEqualTo("port 1 is in use; Größe 5");
    }

    @Test
    void lineBreaksBecomeSpaces() {
        assertThat(OneLine.of(" one\n  two\r\nthree\n")).isEqualTo("one two three");
    }

    @Test
    void ordersToTheTerminalLoseTheirForce() {
        assertThat(OneLine.of("a\u001b[2Jb\u0000\u0007")).isEqualTo("a?[2Jb??");
        assertThat(new CommandFailure("the peer says \u001b[31mred").getMessage())
                .isEqualTo("the peer says ?[31mred");
    }
}
