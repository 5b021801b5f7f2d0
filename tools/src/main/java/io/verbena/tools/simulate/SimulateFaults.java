// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import io.verbena.sim.Delay;
import io.verbena.sim.Durations;
import io.verbena.sim.FaultPlan;
import io.verbena.sim.FaultWindow;
import io.verbena.sim.ScriptedFault;
import io.verbena.sim.workload.Simulation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say what the network does to packets. */
final class SimulateFaults {
    /** What stands for hosts in faults: those of a simulation, and any. */
    private static final List<String> HOSTS = List.of("a", "b", "*");

    @Option(names = "--no-faults", description = "A perfect network.")
    private boolean none;

    @Option(names = "--loss", paramLabel = "P", description = "Lose packets, with a probability from 0 to 1.")
    private double loss;

    @Option(names = "--duplicate", paramLabel = "P", description = "Let packets arrive twice.")
    private double duplicate;

    @Option(names = "--reorder", paramLabel = "P", description = "Let packets arrive late, behind others.")
    private double reorder;

    @Option(
            names = "--reorder-window",
            paramLabel = "TIME",
            defaultValue = "50us",
            description = "How late at most (default ${DEFAULT-VALUE}).")
    private String reorderWindow = "50us";

    @Option(names = "--corrupt", paramLabel = "P", description = "Flip one to three bits of packets.")
    private double corrupt;

    @Option(names = "--truncate", paramLabel = "P", description = "Cut packets off.")
    private double truncate;

    @Option(
            names = "--delay",
            paramLabel = "TIME",
            description = "How long packets take: 5us, 5us..20us, 5us..20us+10us (with an exponential tail).")
    private @Nullable String delay;

    @Option(
            names = "--partition",
            paramLabel = "WHEN",
            description = "Cut hosts off: 10ms-15ms, 10ms-15ms:a<>b or, one way, 10ms-15ms:a>b.")
    private List<String> partitions = new ArrayList<>();

    @Option(names = "--link-down", paramLabel = "WHEN", description = "A host's link is down: 10ms-15ms:a.")
    private List<String> linkDowns = new ArrayList<>();

    @Option(
            names = "--black-hole",
            paramLabel = "WHEN",
            description = "Packets above a size vanish: 10ms-15ms=1500:a>b.")
    private List<String> blackHoles = new ArrayList<>();

    @Option(names = "--slow", paramLabel = "WHEN", description = "A host is slow: 10ms-15ms=20us:a, for each packet.")
    private List<String> slows = new ArrayList<>();

    @Option(names = "--clock-jump", paramLabel = "WHEN", description = "A clock jumps ahead: 10ms=500ms:a.")
    private List<String> clockJumps = new ArrayList<>();

    @Option(
            names = "--script",
            paramLabel = "FAULT",
            description = "One packet: drop:3:ack:b>a drops the 3rd acknowledgement; also duplicate, delay, corrupt.")
    private List<String> script = new ArrayList<>();

    /** The plan, or null when nothing was asked for. */
    @Nullable
    FaultPlan plan() {
        if (arguments().isEmpty()) {
            return null;
        }
        FaultPlan.Builder plan = FaultPlan.builder()
                .loss(loss)
                .duplicate(duplicate)
                .reorder(reorder, Durations.parse(reorderWindow))
                .corrupt(corrupt)
                .truncate(truncate);
        if (delay != null) {
            plan.delay(Delay.parse(delay));
        }
        windows(plan, FaultWindow.Kind.PARTITION, partitions);
        windows(plan, FaultWindow.Kind.LINK_DOWN, linkDowns);
        windows(plan, FaultWindow.Kind.BLACK_HOLE, blackHoles);
        windows(plan, FaultWindow.Kind.SLOW, slows);
        windows(plan, FaultWindow.Kind.CLOCK_JUMP, clockJumps);
        script(plan, script);
        FaultPlan built = plan.build();
        if (none
                && !built.equals(FaultPlan.builder()
                        .reorder(0, built.reorderWindowNs())
                        .delay(built.delay())
                        .build())) {
            throw new IllegalArgumentException("--no-faults goes with --delay only");
        }
        return built;
    }

    private static void windows(FaultPlan.Builder plan, FaultWindow.Kind kind, List<String> texts) {
        for (String text : texts) {
            FaultWindow window = FaultWindow.parse(kind, text);
            requireHost(window.from(), text);
            requireHost(window.to(), text);
            long endNs = Simulation.FAULTS_MAX.toNanos();
            if (window.fromNs() >= endNs) {
                throw new IllegalArgumentException(
                        "\"" + text + "\" would never begin: all faults end after " + Durations.format(endNs));
            }
            plan.window(window);
        }
    }

    private static void script(FaultPlan.Builder plan, List<String> texts) {
        for (String text : texts) {
            ScriptedFault fault = ScriptedFault.parse(text);
            requireHost(fault.from(), text);
            requireHost(fault.to(), text);
            plan.script(fault);
        }
    }

    private static void requireHost(String name, String text) {
        if (!HOSTS.contains(name)) {
            throw new IllegalArgumentException("\"" + text + "\": there is no host " + name + ", only a and b");
        }
    }

    /** The arguments that ask for the same once more. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        if (none) {
            arguments.add("--no-faults");
        }
        add(arguments, "--loss", loss);
        add(arguments, "--duplicate", duplicate);
        add(arguments, "--reorder", reorder);
        if (reorder > 0) {
            add(arguments, "--reorder-window", List.of(reorderWindow));
        }
        add(arguments, "--corrupt", corrupt);
        add(arguments, "--truncate", truncate);
        add(arguments, "--delay", delay == null ? List.of() : List.of(delay));
        add(arguments, "--partition", partitions);
        add(arguments, "--link-down", linkDowns);
        add(arguments, "--black-hole", blackHoles);
        add(arguments, "--slow", slows);
        add(arguments, "--clock-jump", clockJumps);
        add(arguments, "--script", script);
        return arguments;
    }

    private static void add(List<String> arguments, String name, double probability) {
        if (probability != 0) {
            add(arguments, name, List.of(Double.toString(probability)));
        }
    }

    private static void add(List<String> arguments, String name, List<String> values) {
        for (String value : values) {
            arguments.add(name);
            arguments.add(value);
        }
    }
}
