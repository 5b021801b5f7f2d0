// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena demo}: the guided tour. */
@Command(
        name = "demo",
        description =
                "Two processes on this machine move memory between them over real RoCE v2 packets; one of them sleeps.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena demo                       the tour; packets go to demo.pcapng",
            "  verbena demo --size 256m --json    more memory; the result as JSON",
            "  tshark -r demo.pcapng              what went over the wire",
        })
public final class DemoCommand extends StandardCommand {
    private static final long LEAST = 4096;
    private static final long MOST = 1L << 30;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            defaultValue = "64m",
            description = "Memory that the target registers, 4k to 1g (default ${DEFAULT-VALUE}).")
    private ByteSize size = new ByteSize(64 << 20);

    @Option(
            names = "--capture",
            paramLabel = "FILE",
            defaultValue = "demo.pcapng",
            description = "Where the packets of the last part go (default ${DEFAULT-VALUE}).")
    private Path capture = Path.of("demo.pcapng");

    @Override
    public Integer call() throws Exception {
        if (size.bytes() < LEAST || size.bytes() > MOST) {
            throw new CommandFailure("--size: 4k to 1g are possible");
        }
        Path directory = capture.toAbsolutePath().getParent();
        if (directory == null || !Files.isDirectory(directory) || !Files.isWritable(directory)) {
            throw new CommandFailure("cannot write " + capture
                    + ": its directory is missing or not writable; choose another" + " file with --capture");
        }
        long start = System.nanoTime();
        DemoStory story = new DemoStory(out(), json());
        Map<String, Object> json = new LinkedHashMap<>();
        try (Resources resources = new Resources()) {
            DemoTour tour = new DemoTour(resources, story, size.bytes(), capture);
            tour.run();
            story.say("");
            story.say(Measurement.table(tour.measurements()).stripTrailing());
            json.put("ok", true);
            json.put("initiator", tour.initiatorDevice());
            json.put("target", tour.targetDevice());
            json.put("size", size.bytes());
            json.put("steps", story.steps());
            json.put(
                    "measurements",
                    tour.measurements().stream().map(Measurement::toJson).toList());
        }
        // The file is complete once its device is closed.
        if (!Files.isRegularFile(capture) || Files.size(capture) == 0) {
            throw new CommandFailure("the device captured no packets: " + capture + " is missing or empty");
        }
        json.put("capture", capture.toString());
        json.put("seconds", Json.rounded((System.nanoTime() - start) / 1e9, 2));
        story.say("");
        story.say(String.format(
                Locale.ROOT,
                "All of it was checked and is right; %.1f s. The packets of step 8 are in %s: open it in Wireshark.",
                (System.nanoTime() - start) / 1e9,
                capture));
        if (json()) {
            Json.print(out(), json);
        }
        return 0;
    }
}
