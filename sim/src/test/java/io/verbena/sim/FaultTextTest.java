// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.wire.ib.Opcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people write about faults is what comes back. */
class FaultTextTest {
    @ParameterizedTest
    @CsvSource({
        "PARTITION, 10ms-15ms",
        "PARTITION, 10ms-15ms:a<>b",
        "PARTITION, 10ms-15ms:a>b",
        "PARTITION, 10ms-15ms:a>*",
        "LINK_DOWN, 1s-2s:b",
        "BLACK_HOLE, 0ns-1us=1500:a>b",
        "SLOW, 10ms-15ms=20us:a",
        "CLOCK_JUMP, 10ms=500ms:a"
    })
    void windows(FaultWindow.Kind kind, String text) {
        assertThat(FaultWindow.parse(kind, text)).hasToString(text);
    }

    @Test
    void aOneWayPartitionLetsTheOtherWayThrough() {
        FaultWindow oneWay = FaultWindow.parse(FaultWindow.Kind.PARTITION, "1ms-2ms:a>b");
        assertThat(oneWay.hits("a", "b")).isTrue();
        assertThat(oneWay.hits("b", "a")).isFalse();
        FaultWindow both = FaultWindow.parse(FaultWindow.Kind.PARTITION, "1ms-2ms:a<>b");
        assertThat(both.hits("b", "a")).isTrue();
        assertThat(both.hits("b", "c")).isFalse();
        assertThat(both.active(1_000_000)).isTrue();
        assertThat(both.active(2_000_000)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1ms", "2ms-1ms", "1ms-2ms=3", "1-2", "1ms-2ms:A b", "1ms-2ms:a>"})
    void partitionsThatAreNone(String text) {
        assertThatThrownBy(() -> FaultWindow.parse(FaultWindow.Kind.PARTITION, text))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "LINK_DOWN, 1ms-2ms:a>b",
        "SLOW, 1ms-2ms=20us:a<>b",
        "BLACK_HOLE, 1ms-2ms=1500.5",
        "BLACK_HOLE, 1ms-2ms=99999999999999999999",
        "PARTITION, 1ms-2ms:ab"
    })
    void windowsThatAreNoneShowTheForm(FaultWindow.Kind kind, String text) {
        assertThatThrownBy(() -> FaultWindow.parse(kind, text)).hasMessageContaining("is not like ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5us", "5us..20us", "5us..20us+10us", "0ns"})
    void delays(String text) {
        assertThat(Delay.parse(text)).hasToString(text);
    }

    @Test
    void scripts() {
        assertThat(ScriptedFault.parse("drop:3:ack:b>a"))
                .isEqualTo(new ScriptedFault(ScriptedFault.Action.DROP, 3, Opcode.RC_ACKNOWLEDGE, "b", "a"))
                .hasToString("drop:3:RC_ACKNOWLEDGE:b>a");
        assertThat(ScriptedFault.parse("corrupt:1:any")).hasToString("corrupt:1:any:*>*");
        for (String wrong : new String[] {
            "", "drop", "drop:0:any", "drop:x:any", "lose:1:any", "drop:1:NO_SUCH", "drop:1:any:", "drop:1:any:a<b"
        }) {
            assertThatThrownBy(() -> ScriptedFault.parse(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void durations() {
        assertThat(Durations.parse("1.5ms")).isEqualTo(1_500_000);
        assertThat(Durations.format(1_500_000)).isEqualTo("1500us");
        assertThatThrownBy(() -> Durations.parse("5")).hasMessageContaining("20us");
        assertThatThrownBy(() -> Durations.parse("86401s")).hasMessageContaining("longer than a day");
    }
}
