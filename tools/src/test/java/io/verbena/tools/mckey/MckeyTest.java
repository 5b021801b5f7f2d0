// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.ToolRun;
import io.verbena.tools.Verbena;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Timeout(60)
class MckeyTest {
    /** A receiver that can be waited for until it has joined. */
    private static final class Receiver {
        private final CountDownLatch joined = new CountDownLatch(1);
        private final StringWriter out = new StringWriter();
        private final StringWriter err = new StringWriter();
        private final FutureTask<Integer> run;

        Receiver(String options) {
            CommandLine commandLine = Verbena.commandLine();
            commandLine.setOut(new PrintWriter(out, true));
            commandLine.setErr(new PrintWriter(err) {
                @Override
                public void flush() {
                    super.flush();
                    joined.countDown();
                }
            });
            run = new FutureTask<>(() -> commandLine.execute(("mckey " + options).split(" ")));
            Thread.ofPlatform().daemon().start(run);
        }

        void awaitJoined() throws InterruptedException {
            joined.await();
            assertThat(err.toString()).contains("joined ");
        }

        String output() throws Exception {
            assertThat(run.get()).as(err.toString()).isZero();
            return out.toString();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " -C 1 -S 1", " -C 300 -S 1024", " -S 4096"})
    void allReceiversHearTheSender(String options) throws Exception {
        List<Receiver> receivers = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            receivers.add(new Receiver("-m 239.77.1.2 -b 127.0.77." + i + options));
        }
        for (Receiver receiver : receivers) {
            receiver.awaitJoined();
        }
        ToolRun sender = ToolRun.of(("mckey -m 239.77.1.2 -b 127.0.77.3 -s --pause 0" + options).split(" "));
        assertThat(sender.exitCode()).as(sender.err()).isZero();
        String count = options.contains("-C 1 ") ? "1" : options.contains("-C 300") ? "300" : "10";
        assertThat(sender.out()).startsWith("sent " + count + " messages of ").contains(" to ::ffff:239.77.1.2");
        for (Receiver receiver : receivers) {
            assertThat(receiver.output())
                    .startsWith("received " + count + " messages of ")
                    .contains(" bytes from ::ffff:127.0.77.3, QP 0x");
        }
    }

    @Test
    void jsonTellsTheSenders() throws Exception {
        Receiver receiver = new Receiver("-m 239.77.1.3 -b 127.0.77.1 --json -C 4");
        receiver.awaitJoined();
        ToolRun sender = ToolRun.of("mckey -m 239.77.1.3 -b 127.0.77.3 -s --pause 0 --json -C 4".split(" "));
        assertThat(sender.out()).contains("\"role\" : \"sender\"", "\"group\" : \"::ffff:239.77.1.3\"");
        assertThat(receiver.output()).contains("\"gid\" : \"::ffff:127.0.77.3\"", "\"messages\" : 4");
    }

    @Test
    void whatDoesNotComeIsTold() {
        ToolRun run = ToolRun.of("mckey -m 239.77.1.4 -b 127.0.77.1 --timeout 1".split(" "));
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("received 0 of 10 messages; the next did not come in 1 s");
    }

    @Test
    void aGroupOfTheOtherFamilyIsTold() {
        ToolRun run = ToolRun.of("mckey -m ff15::7 -b 127.0.77.1".split(" "));
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("is no multicast group of the family of this device's address");
    }

    @ParameterizedTest
    @CsvSource({
        "'', Missing required option: '-m=GROUP'",
        "-m 10.1.2.3, \"10.1.2.3\" is no multicast group",
        "-m 239.1.2.3 -S 4097, '-S: 1 to 4096 bytes are possible, not 4097'",
        "-m 239.1.2.3 -C 0, '-C: at least 1 message is possible, not 0'",
        "-m 239.1.2.3 --timeout 0, '--timeout: 1 to 86400 s are possible, not 0'",
    })
    void wrongOptionsAreTold(String options, String message) {
        ToolRun run = ToolRun.of(("mckey " + options).trim().split(" "));
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(message, "Try 'verbena mckey --help'.");
    }
}
