// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import io.verbena.sim.FaultPlan;
import io.verbena.sim.workload.Simulation;
import io.verbena.sim.workload.Verdict;
import io.verbena.sim.workload.Workload;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.FailurePrinter;
import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.Progress;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code verbena simulate}: the device's own code on a bad network in virtual time, checked after every step. */
@Command(
        name = "simulate",
        description = {
            "Run the protocol engine on a simulated bad network, in virtual time, and check all that it does.",
            "A seed decides everything: the same seed sends the same packets at the same times. Without options about"
                    + " faults each seed makes up its own."
        },
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena simulate                                  50 seeds of each workload",
            "  verbena simulate --seeds 1000 --workload rc       more of one",
            "  verbena simulate --loss 0.1 --partition 1ms-5ms   faults of your choice",
            "  verbena simulate --seed 17 --workload rc --capture 17.pcapng",
        })
public final class SimulateCommand extends StandardCommand {
    private static final int FAILURES_SHOWN = 5;
    private static final int PATIENCE_MS = 5_000;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "The first seed (default 1).")
    private long seed = 1;

    @Option(
            names = "--seeds",
            paramLabel = "K",
            description = "How many seeds, from the first one up; default: 50, and 1 with --seed.")
    private @Nullable Integer seeds;

    @Option(
            names = "--workload",
            paramLabel = "NAME",
            split = ",",
            description = "${COMPLETION-CANDIDATES}; default: all.")
    private @Nullable List<Workload> workloads;

    @Option(
            names = "--operations",
            paramLabel = "N",
            defaultValue = "300",
            description = "Requests on each queue pair (default ${DEFAULT-VALUE}).")
    private int operations = 300;

    @Option(
            names = "--capture",
            paramLabel = "FILE",
            description = "Write the packets of a single run as pcapng, with what happened to each.")
    private @Nullable Path capture;

    @Option(
            names = "--failures-to",
            paramLabel = "DIRECTORY",
            defaultValue = ".",
            description = "Where the packets of failed runs go (default: the working directory).")
    private Path failuresTo = Path.of(".");

    @Mixin
    private SimulateFaults faults = new SimulateFaults();

    @Override
    public Integer call() throws Exception {
        SimulateOptions options = options();
        SimulateRun run = new SimulateRun(options, (workload, number) -> simulate(options, workload, number));
        CountDownLatch reported = new CountDownLatch(1);
        try (Resources resources = new Resources()) {
            // On Ctrl-C what was found so far is told; a run that is long may not be waited for.
            resources.add(() -> {
                run.end();
                boolean unused = reported.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
            });
            try {
                try (var _ = Progress.start(err(), run::progress)) {
                    run.run();
                }
                return report(options, run);
            } finally {
                reported.countDown();
            }
        }
    }

    private Verdict simulate(SimulateOptions options, Workload workload, long number) {
        return capture == null
                ? simulation(options, workload, number).run()
                : captured(options, workload, number, capture);
    }

    private static Simulation simulation(SimulateOptions options, Workload workload, long number) {
        return new Simulation(number, workload, options.faults(number), options.operations());
    }

    private static Verdict captured(SimulateOptions options, Workload workload, long number, Path file) {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            return simulation(options, workload, number).capture(out).run();
        } catch (UncheckedIOException e) {
            throw cannotWrite(file, Objects.requireNonNull(e.getCause()));
        } catch (IOException e) {
            throw cannotWrite(file, e);
        }
    }

    private static CommandFailure cannotWrite(Path file, IOException failure) {
        String why = failure.getMessage();
        if (failure instanceof NoSuchFileException) {
            why = "there is no such directory";
        } else if (failure instanceof AccessDeniedException) {
            why = "permission denied";
        } else if (failure instanceof FileSystemException known && known.getReason() != null) {
            why = known.getReason();
        }
        return new CommandFailure("cannot write " + file + ": " + why, failure);
    }

    /** Prints the summary and, of the first failures, what was found, where its packets are and how to repeat it. */
    int report(SimulateOptions options, SimulateRun run) {
        List<Map<String, Object>> failures = run.failures().stream()
                .limit(FAILURES_SHOWN)
                .map(failure -> failure(options, failure))
                .toList();
        if (json()) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put(
                    "workloads",
                    run.tallies().stream().map(SimulateReport::json).toList());
            json.put("failures", failures);
            Json.print(out(), json);
        } else {
            SimulateReport.print(out(), run.tallies());
            if (run.endedEarly()) {
                out().println("ended early, after " + run.progress());
            }
            failures.forEach(this::print);
            out().flush();
        }
        return run.failures().isEmpty() ? 0 : FailurePrinter.FAILED;
    }

    private Map<String, Object> failure(SimulateOptions options, SimulateRun.Failure failure) {
        Workload workload = failure.workload();
        long number = failure.verdict().seed();
        String name = workload.name().toLowerCase(Locale.ROOT);
        Path file = capture != null ? capture : failuresTo.resolve("simulate-" + name + "-" + number + ".pcapng");
        String packets = file.toString();
        if (capture == null) {
            try {
                // A run repeats itself, so nothing needs to be kept of those that pass.
                captured(options, workload, number, file);
            } catch (CommandFailure e) {
                // The failure itself matters more.
                packets = "none: " + e.getMessage();
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("workload", name);
        json.put("seed", number);
        json.put("failure", String.valueOf(failure.verdict().failure()));
        json.put("capture", packets);
        json.put("rerun", options.rerun(workload, number));
        return json;
    }

    private void print(Map<String, Object> failure) {
        out().println();
        out().println("FAILED: " + failure.get("workload") + ", seed " + failure.get("seed") + ", "
                + failure.get("failure"));
        out().println("  packets: " + failure.get("capture"));
        out().println("  again:   " + failure.get("rerun"));
    }

    private SimulateOptions options() {
        require(operations >= 1 && operations <= 1_000_000, "--operations: 1 to 1000000 are possible");
        boolean seedGiven = spec().commandLine().getParseResult().hasMatchedOption("--seed");
        int count = seeds == null ? (seedGiven ? 1 : 50) : seeds;
        require(count >= 1, "--seeds: at least 1 is possible, not " + count);
        List<Workload> chosen = workloads == null ? List.of(Workload.values()) : workloads;
        require(
                capture == null || (long) count * chosen.size() == 1,
                "--capture takes one run: give --seed and one --workload");
        FaultPlan plan;
        try {
            plan = faults.plan();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec().commandLine(), String.valueOf(e.getMessage()), e);
        }
        return new SimulateOptions(seed, count, chosen, operations, plan, faults.arguments());
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec().commandLine(), message);
        }
    }
}
