// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.MulticastGroup;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * {@code verbena mckey}, the counterpart of librdmacm's mckey: the connection manager finds the device, joins the group
 * and tells what senders to it must name (librdmacm/examples/mckey.c).
 */
@Command(
        name = "mckey",
        description = "Send datagrams to a multicast group, or hear them; the other ends may be mckey of librdmacm.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena mckey -m 239.1.2.3 -b 127.0.0.1       hear the group; then, in another window,",
            "  verbena mckey -m 239.1.2.3 -b 127.0.0.2 -s    send to it",
            "  mckey -m 239.1.2.3 -s                         the real sender",
        })
public final class MckeyCommand extends StandardCommand {
    private static final int SIZE_MAX = 4096;

    @Option(
            names = "-m",
            paramLabel = "GROUP",
            required = true,
            converter = MulticastGroup.class,
            description = "The multicast group, such as 239.1.2.3 or ff15::7.")
    private @Nullable Gid group;

    @Option(names = "-s", description = "Send; without it this side receives.")
    private boolean sender;

    @Option(
            names = "-b",
            paramLabel = "ADDRESS",
            description = "The local address to use; default: the one that routes to the group.")
    private @Nullable InetAddress address;

    @Option(
            names = "-C",
            paramLabel = "COUNT",
            defaultValue = "10",
            description = "Messages to send or to wait for (default ${DEFAULT-VALUE}).")
    private int count = 10;

    @Option(
            names = "-S",
            paramLabel = "SIZE",
            defaultValue = "100",
            description = "Bytes of a message, the same at all ends (default ${DEFAULT-VALUE}).")
    private int size = 100;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "How long to wait for a message (default ${DEFAULT-VALUE}).")
    private int timeout = 30;

    @Option(
            names = "--pause",
            paramLabel = "SECONDS",
            defaultValue = "3",
            description = "How long a sender lets others join, as mckey does (default ${DEFAULT-VALUE}).")
    private int pause = 3;

    @Override
    public Integer call() throws Exception {
        MckeyOptions options = options();
        int slotBytes = sender ? options.size() : MckeyReceiver.slotBytes(options);
        try (MckeyEnd end = new MckeyEnd(address, options, slotBytes)) {
            if (sender) {
                send(end, options);
            } else {
                receive(end, options);
            }
        }
        return 0;
    }

    private void send(MckeyEnd end, MckeyOptions options) throws InterruptedException {
        new MckeySender(end, options).send();
        if (json()) {
            Json.print(out(), result("sender", end.device(), options));
        } else {
            out().println("sent " + options.count() + " messages of " + options.size() + " bytes to "
                    + options.group());
            out().flush();
        }
    }

    private void receive(MckeyEnd end, MckeyOptions options) throws InterruptedException {
        MckeyReceiver receiver = new MckeyReceiver(end, options);
        receiver.join();
        err().println("joined " + options.group() + " on "
                + end.device().device().name());
        err().flush();
        Map<MckeyReceiver.Sender, Integer> messages = receiver.receive();
        if (json()) {
            Map<String, Object> json = result("receiver", end.device(), options);
            json.put(
                    "senders",
                    messages.entrySet().stream()
                            .map(entry -> senderJson(entry.getKey(), entry.getValue()))
                            .toList());
            Json.print(out(), json);
        } else {
            messages.forEach((from, number) -> out().println(String.format(
                    Locale.ROOT,
                    "received %d messages of %d bytes from %s, QP 0x%06x",
                    number,
                    options.size(),
                    from.gid(),
                    from.qpNumber())));
            out().flush();
        }
    }

    private static Map<String, Object> senderJson(MckeyReceiver.Sender from, int messages) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("gid", from.gid().toString());
        json.put("qp_number", from.qpNumber());
        json.put("messages", messages);
        return json;
    }

    private static Map<String, Object> result(String role, DeviceContext device, MckeyOptions options) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("role", role);
        json.put("device", device.device().name());
        json.put("group", options.group().toString());
        json.put("size", options.size());
        json.put("messages", options.count());
        return json;
    }

    private MckeyOptions options() {
        require(count >= 1, "-C: at least 1 message is possible, not " + count);
        require(size >= 1 && size <= SIZE_MAX, "-S: 1 to " + SIZE_MAX + " bytes are possible, not " + size);
        require(timeout >= 1 && timeout <= 86_400, "--timeout: 1 to 86400 s are possible, not " + timeout);
        require(pause >= 0 && pause <= 86_400, "--pause: 0 to 86400 s are possible, not " + pause);
        return new MckeyOptions(
                Objects.requireNonNull(group, "picocli requires -m"),
                size,
                count,
                Duration.ofSeconds(timeout),
                Duration.ofSeconds(pause));
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec().commandLine(), message);
        }
    }
}
