// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The tests: an operation, and whether its bandwidth or its latency is measured. */
enum PerfTest {
    WRITE_BW(Verb.WRITE, true),
    WRITE_LAT(Verb.WRITE, false),
    READ_BW(Verb.READ, true),
    READ_LAT(Verb.READ, false),
    SEND_BW(Verb.SEND, true),
    SEND_LAT(Verb.SEND, false),
    ATOMIC_BW(Verb.ATOMIC, true),
    ATOMIC_LAT(Verb.ATOMIC, false);

    private final Verb verb;
    private final boolean bandwidth;

    /** What is measured, with the name that perftest prints. */
    enum Verb {
        WRITE("RDMA_Write"),
        READ("RDMA_Read"),
        SEND("Send"),
        ATOMIC("Atomic");

        private final String title;

        Verb(String title) {
            this.title = title;
        }

        String title() {
            return title;
        }

        /** Whether the responder keeps state for it, so that only so many may be outstanding. */
        boolean isAnswered() {
            return this == READ || this == ATOMIC;
        }
    }

    PerfTest(Verb verb, boolean bandwidth) {
        this.verb = verb;
        this.bandwidth = bandwidth;
    }

    Verb verb() {
        return verb;
    }

    boolean isBandwidth() {
        return bandwidth;
    }

    /** As the user types it: {@code write-bw}. */
    String commandName() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    /** For picocli; also takes {@code ib_write_bw}. */
    static final class Converter implements ITypeConverter<PerfTest> {
        @Override
        public PerfTest convert(String value) {
            String wanted = value.toLowerCase(java.util.Locale.ROOT).replace('_', '-');
            for (PerfTest test : values()) {
                if (wanted.equals(test.commandName()) || wanted.equals("ib-" + test.commandName())) {
                    return test;
                }
            }
            throw new TypeConversionException("there is no test \"" + value + "\"; those there are: "
                    + Arrays.stream(values()).map(PerfTest::commandName).collect(Collectors.joining(", ")));
        }
    }
}
