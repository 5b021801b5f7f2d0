// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The strings are those of real perftest runs between two Linux kernels, as captured. */
class PerfDestinationTest {
    static final String ATOMIC_CLIENT = "0000:0080:00001c:546cf8:00001141:0000558316813000:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:02:00000000:\0";
    static final String ATOMIC_SERVER = "0000:0080:00001d:f715dc:0000113e:000055feb6a98000:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:01:00000000:\0";

    @ParameterizedTest
    @ValueSource(
            strings = {
                ATOMIC_CLIENT,
                ATOMIC_SERVER,
                "0000:0002:00001d:3b9fdd:000012c9:000056441b9b5388:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:02:00000000:\0",
                "0000:0001:000020:14ce8e:00001476:000055a014020328:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:01:00000000:\0",
                "0000:0001:000023:5e50bd:0000189b:00007fc6b502dd40:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:02:00000000:\0",
                "0000:0001:000022:87e8ce:00000000:000055e74dec6000:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:01:00000000:\0",
                "0000:0001:000025:84d164:00001a1f:00005633be004000:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:02:00000000:\0",
            })
    void messagesOfTheRealProgramsAreReadAndWrittenAlike(String message) {
        byte[] bytes = message.getBytes(StandardCharsets.US_ASCII);
        assertThat(bytes).hasSize(PerfDestination.MESSAGE_BYTES);
        assertThat(PerfDestination.decode(bytes).encode()).isEqualTo(bytes);
    }

    @Test
    void fieldsAreWhereTheyBelong() {
        PerfDestination client = PerfDestination.decode(ATOMIC_CLIENT.getBytes(StandardCharsets.US_ASCII));
        assertThat(client.lid()).isZero();
        assertThat(client.outstandingReads()).isEqualTo(128);
        assertThat(client.qpNumber()).isEqualTo(0x1c);
        assertThat(client.psn()).isEqualTo(0x546cf8);
        assertThat(client.rkey()).isEqualTo(0x1141);
        assertThat(client.address()).isEqualTo(0x558316813000L);
        assertThat(client.gid().toAddress().getHostAddress()).isEqualTo("10.9.0.2");
    }

    @Test
    void allBitsSurvive() {
        String text = "ffff:00ff:fffffe:ffffff:fffffff1:ffffffffffffff00:"
                + "fe:80:00:00:00:00:00:00:50:54:00:ff:fe:00:00:02:00000000:\0";
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        assertThat(PerfDestination.decode(bytes).encode()).isEqualTo(bytes);
    }

    @Test
    void nothingButAMessageIsTaken() {
        byte[] good = ATOMIC_CLIENT.getBytes(StandardCharsets.US_ASCII);
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 2000; i++) {
            byte[] bad = good.clone();
            // Each of these places holds a digit or a colon; none of the new bytes is one.
            bad[random.nextInt(PerfDestination.MESSAGE_BYTES - 1)] =
                    (byte) (random.nextBoolean() ? 'g' + random.nextInt(20) : random.nextInt(' '));
            assertThatThrownBy(() -> PerfDestination.decode(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int length = 0; length < 200; length++) {
            if (length != PerfDestination.MESSAGE_BYTES) {
                byte[] bad = Arrays.copyOf(good, length);
                assertThatThrownBy(() -> PerfDestination.decode(bad)).isInstanceOf(IllegalArgumentException.class);
            }
        }
    }
}
