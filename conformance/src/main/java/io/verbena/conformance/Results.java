// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

/** What the tests of a run found. Thread-safe. */
public final class Results {
    /**
     * A test of a behaviour on a provider.
     *
     * @param reason why it was skipped or what failed; empty otherwise
     */
    public record Result(String id, String provider, String test, Outcome outcome, String reason) {}

    private final ConcurrentLinkedQueue<Result> all = new ConcurrentLinkedQueue<>();

    public void add(Result result) {
        all.add(result);
    }

    public List<Result> all() {
        return List.copyOf(all);
    }

    /** How many tests of behaviours ended so. */
    public long count(Outcome outcome) {
        return all.stream().filter(result -> result.outcome == outcome).count();
    }

    /** The behaviours that a provider is held to and that no test of this run found there: neither to be so nor not. */
    List<String> emptyLines(List<Behaviour> behaviours, String provider) {
        return behaviours.stream()
                .filter(Behaviour::isHeldTo)
                .map(Behaviour::id)
                .filter(id -> all.stream()
                        .noneMatch(result -> result.id.equals(id)
                                && result.provider.equals(provider)
                                && result.outcome != Outcome.SKIPPED))
                .toList();
    }

    /** A behaviour on a provider in a few words: what the worst of its tests says, with the reasons of skips. */
    String cell(Behaviour behaviour, String provider) {
        List<Result> results = all.stream()
                .filter(result -> result.id.equals(behaviour.id()) && result.provider.equals(provider))
                .toList();
        if (results.isEmpty()) {
            return behaviour.note().isEmpty() ? "no" : behaviour.note();
        }
        if (results.stream().anyMatch(result -> result.outcome == Outcome.FAILED)) {
            return "FAILS";
        }
        String reasons = results.stream()
                .filter(result -> result.outcome == Outcome.SKIPPED)
                .map(Result::reason)
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .collect(Collectors.joining("; "));
        if (reasons.isEmpty()) {
            return "yes";
        }
        boolean partly = results.stream().anyMatch(result -> result.outcome == Outcome.PASSED);
        return (partly ? "yes, without " : "no: ") + reasons;
    }

    /** A line for each result, fields apart by tabs, in a fixed order. */
    public String toTsv() {
        return all.stream()
                .map(result -> String.join(
                        "\t",
                        result.id,
                        result.provider,
                        result.test,
                        result.outcome.name(),
                        result.reason.replaceAll("\\s+", " ")))
                .sorted()
                .collect(Collectors.joining("\n", "id\tprovider\ttest\toutcome\treason\n", "\n"));
    }
}
