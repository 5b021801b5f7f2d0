// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.transport.ib.QueuePairProgram.Step;
import io.verbena.verbs.SendFlags;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import io.verbena.wire.pcap.LinkTypes;
import io.verbena.wire.pcap.PcapNgWriter;
import io.verbena.wire.pcap.PcapReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Makes inputs for the fuzz targets from captures, few and small: {@code ./verbena fuzz --corpus CAPTURE...}. Of each
 * kind of packet the shortest is kept; what comes to one queue pair becomes a program.
 */
public final class CaptureCorpus {
    private static final int PACKET_BYTES_MAX = 1200;
    private static final int PACKETS_PER_PROGRAM = 12;
    private static final int PROGRAMS_PER_KIND = 20;

    /** A program that is being written, and the PSN that its queue pair expects next. */
    private static final class Program {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final StringBuilder opcodes = new StringBuilder();
        int expectedPsn = -1;
        int packets;

        Program(QueuePairFuzz.Kind kind) {
            // The kind of queue pair, and settings.
            bytes.writeBytes(new byte[] {(byte) kind.ordinal(), 0, 0, 0, 0});
        }
    }

    private final Path wire;
    private final Path transport;
    /** The shortest packet of each kind. */
    private final Map<String, byte[]> packets = new HashMap<>();

    private final Map<Integer, Program> programs = new HashMap<>();
    private final Map<String, byte[]> finished = new HashMap<>();

    private CaptureCorpus(Path root) {
        wire = root.resolve("wire/src/test/resources/fuzz");
        transport = root.resolve("transport/src/test/resources/fuzz");
    }

    /** The root of the project, then captures. */
    public static void main(String[] arguments) throws IOException {
        CaptureCorpus corpus = new CaptureCorpus(Path.of(arguments[0]));
        for (String capture : List.of(arguments).subList(1, arguments.length)) {
            corpus.read(Path.of(capture));
        }
        corpus.write();
    }

    private void read(Path capture) throws IOException {
        byte[] start = new byte[1024];
        try (InputStream in = Files.newInputStream(capture)) {
            save(wire.resolve("pcap"), capture.getFileName().toString(), Arrays.copyOf(start, in.read(start)));
        }
        try (PcapReader reader = new PcapReader(Files.newInputStream(capture))) {
            for (PcapReader.Packet p = reader.next(); p != null; p = reader.next()) {
                packet(p.bytes());
            }
        }
        programs.values().forEach(this::finish);
        programs.clear();
    }

    private void packet(MemorySegment s) {
        byte[] all = s.toArray(JAVA_BYTE);
        if (s.byteSize() < Ethernet.BYTES + Ipv6.BYTES) {
            return;
        }
        int type = Ethernet.type(s, 0);
        boolean ipv4 = type == Ethernet.TYPE_IPV4;
        int ip = Ethernet.BYTES;
        int protocol = ipv4 ? Ipv4.protocol(s, ip) : Ipv6.nextHeader(s, ip);
        int udp = ip + (ipv4 ? Ipv4.BYTES : Ipv6.BYTES);
        int bth = udp + Udp.BYTES;
        boolean roce = (ipv4 || type == Ethernet.TYPE_IPV6)
                && protocol == Ipv4.PROTOCOL_UDP
                && s.byteSize() >= bth + Bth.BYTES + Icrc.BYTES
                && Udp.destinationPort(s, udp) == Udp.PORT_ROCE_V2;
        if (!roce) {
            keep("ether-" + Integer.toHexString(type) + "-" + protocol, all);
            return;
        }
        Opcode opcode = Opcode.of(Bth.opcode(s, bth));
        String name = opcode == null ? "opcode" : name(opcode);
        // The management datagrams of connections differ by their attribute, at byte 16 behind the headers.
        boolean mad = opcode == Opcode.UD_SEND_ONLY
                && Bth.destinationQp(s, bth) == Mad.QUEUE_PAIR
                && s.byteSize() >= bth + opcode.headerBytes() + Mad.BYTES;
        String kind = mad ? "-mad-" + Integer.toHexString(Mad.attribute(s, bth + opcode.headerBytes())) : "";
        keep((ipv4 ? "" : "ipv6-") + name + kind, all);
        QueuePairFuzz.Kind of = opcode == null || mad ? null : kind(opcode);
        if (of != null) {
            program(of, s, bth, udp + Udp.length(s, udp) - Icrc.BYTES, opcode);
        }
    }

    /** The kind of queue pair that a packet comes to, or null. */
    private static QueuePairFuzz.Kind kind(Opcode opcode) {
        return switch (opcode.service()) {
            case RC -> QueuePairFuzz.Kind.RC;
            case UC -> QueuePairFuzz.Kind.UC;
            case UD -> QueuePairFuzz.Kind.UD;
            case XRC -> opcode.isRequest() ? QueuePairFuzz.Kind.XRC_TARGET : QueuePairFuzz.Kind.XRC_INITIATOR;
            default -> null;
        };
    }

    private void keep(String kind, byte[] packet) {
        byte[] known = packets.get(kind);
        if (packet.length <= PACKET_BYTES_MAX && (known == null || packet.length < known.length)) {
            packets.put(kind, packet);
        }
    }

    private void program(QueuePairFuzz.Kind kind, MemorySegment s, int bth, int end, Opcode opcode) {
        int qp = Bth.destinationQp(s, bth);
        Program program = programs.computeIfAbsent(qp, number -> new Program(kind));
        ByteArrayOutputStream out = program.bytes;
        if (program.opcodes.isEmpty()) {
            for (int i = 0; i < 4; i++) {
                out.writeBytes(new byte[] {(byte) Step.POST_RECEIVE.ordinal(), 0x3f});
            }
        }
        int psn = Bth.psn(s, bth);
        if (opcode.isRequest()) {
            int ahead = program.expectedPsn < 0 ? 0 : Math.clamp(Psn.diff(psn, program.expectedPsn), -128, 127);
            int payload = end - bth - opcode.headerBytes();
            out.writeBytes(new byte[] {(byte) Step.HEADERS.ordinal(), 0, (byte) ahead, (byte) opcode.headerBytes()});
            out.writeBytes(s.asSlice(bth, opcode.headerBytes()).toArray(JAVA_BYTE));
            out.writeBytes(new byte[] {(byte) (payload >> 8), (byte) payload});
            program.expectedPsn = ahead == 0 ? Psn.add(psn, 1) : program.expectedPsn;
        } else {
            int work = switch (opcode.operation()) {
                case READ_RESPONSE -> 2;
                case ATOMIC_ACKNOWLEDGE -> 3;
                default -> program.packets % 2;
            };
            out.writeBytes(new byte[] {(byte) Step.POST_SEND.ordinal(), (byte) work, SendFlags.SIGNALED, 4, 0});
            out.write(Step.ANSWER_ALL.ordinal());
        }
        out.writeBytes(new byte[] {(byte) Step.TAKE.ordinal(), 9});
        program.opcodes.append((char) ('A' + opcode.ordinal()));
        if (++program.packets == PACKETS_PER_PROGRAM) {
            finish(program);
            programs.remove(qp);
        }
    }

    private void finish(Program program) {
        finished.putIfAbsent(program.opcodes.toString(), program.bytes.toByteArray());
    }

    private void write() throws IOException {
        for (Map.Entry<String, byte[]> one : packets.entrySet()) {
            byte[] packet = one.getValue();
            String name = one.getKey();
            save(wire.resolve("dissector"), name, packet);
            int udp = Ethernet.BYTES + (name.startsWith("ipv6") ? Ipv6.BYTES : Ipv4.BYTES);
            if (!name.startsWith("ether")) {
                byte[] payload = Arrays.copyOfRange(packet, udp + Udp.BYTES, packet.length);
                save(wire.resolve("header"), name, Arrays.copyOf(payload, Math.min(64, payload.length)));
                if (name.contains("-mad-")) {
                    int mad = Opcode.UD_SEND_ONLY.headerBytes();
                    byte[] message = Arrays.copyOfRange(payload, mad, mad + Mad.BYTES);
                    save(wire.resolve("mad"), name, message);
                    save(transport.resolve("connection-manager"), name, messageStep(message));
                }
            }
        }
        for (String name : List.of("rc-send-only", "rc-acknowledge", "ipv6-rc-write-first")) {
            byte[] packet = packets.get(name);
            if (packet != null) {
                byte[] input = Arrays.copyOfRange(packet, Ethernet.BYTES - 5, packet.length);
                save(wire.resolve("icrc"), name, input);
            }
        }
        writePrograms();
        for (QueuePairFuzz.Kind kind : QueuePairFuzz.Kind.ALL) {
            save(transport.resolve("queue-pair"), "kind-" + name(kind), everyStep(kind));
        }
        writeNextGeneration();
    }

    private void writePrograms() throws IOException {
        Set<String> kinds = new HashSet<>();
        List<String> keys = finished.keySet().stream().sorted().toList();
        int[] numbers = new int[QueuePairFuzz.Kind.ALL.length];
        for (String key : keys) {
            byte[] program = finished.get(key);
            QueuePairFuzz.Kind kind = QueuePairFuzz.Kind.ALL[program[0]];
            // Of programs that begin alike, one.
            if (numbers[program[0]] < PROGRAMS_PER_KIND && kinds.add(key.substring(0, Math.min(6, key.length())))) {
                save(transport.resolve("queue-pair"), "capture-" + name(kind) + "-" + numbers[program[0]]++, program);
            }
        }
    }

    /** A program for the connection manager that lets this message come from address 2. */
    private static byte[] messageStep(byte[] message) {
        int fields = Mad.BYTES - Mad.HEADER_BYTES;
        byte[] program = {0, 2, (byte) (message[17] - CmAttribute.REQ.id()), (byte) fields};
        byte[] all = Arrays.copyOf(program, program.length + fields);
        System.arraycopy(message, Mad.HEADER_BYTES, all, program.length, fields);
        return all;
    }

    /** A program of every step, for what no capture has. */
    private static byte[] everyStep(QueuePairFuzz.Kind kind) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {(byte) kind.ordinal(), 1, 0x78, 0, 0});
        // A type 1 and a type 2 window, each over 256 bytes, under new keys.
        step(out, Step.WINDOW, 4, 0, 1, 0);
        step(out, Step.WINDOW, 5, 128, 1, 0);
        for (int i = 0; i < 4; i++) {
            step(out, Step.POST_RECEIVE, 0x3f);
        }
        step(out, Step.SHARED_RECEIVES, 3);
        for (int operation = 0; operation < 10; operation++) {
            step(out, Step.POST_SEND, operation, SendFlags.SIGNALED, 1, 0);
        }
        step(out, Step.ANSWER_ALL);
        // Three packets of a SEND, of a WRITE, and of a WRITE that a window does not give.
        step(out, Step.MESSAGE, 2, 0, 100);
        step(out, Step.MESSAGE, 0x12, 0, 100);
        step(out, Step.SHARED_RECEIVES, 4);
        // A WRITE of 64 bytes through each window.
        int writeOnly = requestIndex(kind, 0x0a);
        for (FuzzMemory.Kind through : List.of(FuzzMemory.Kind.DOMAIN_WINDOW, FuzzMemory.Kind.OWN_WINDOW)) {
            step(out, Step.REQUEST, writeOnly, 0, 1, 0, 64, through.ordinal(), 2, 0, 0, 0);
        }
        step(out, Step.TAKE, 9);
        step(out, Step.POLL);
        step(out, Step.WINDOW, 3, 0, 0, 0);
        step(out, Step.CHANGE_STATE, 3);
        step(out, Step.TIME, 24);
        step(out, Step.CHANGE_STATE, 3);
        step(out, Step.SHARED_RECEIVES, 2);
        step(out, Step.REGISTER, 1);
        step(out, Step.MESSAGE, 0x52, 0, 100);
        step(out, Step.AGAIN);
        step(out, Step.UNREACHABLE);
        return out.toByteArray();
    }

    /** Where an opcode is among the requests of a kind, which a program names by that. */
    private static int requestIndex(QueuePairFuzz.Kind kind, int operation) {
        int index = 0;
        for (int i = 0; i < operation; i++) {
            Opcode opcode = kind.opcode(i);
            index += opcode != null && opcode.isRequest() ? 1 : 0;
        }
        return index;
    }

    private static void step(ByteArrayOutputStream out, Step step, int... operands) {
        out.write(step.ordinal());
        for (int operand : operands) {
            out.write(operand);
        }
    }

    /** The packets of connections as a pcapng file. */
    private void writeNextGeneration() throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (PcapNgWriter writer = new PcapNgWriter(file, LinkTypes.ETHERNET)) {
            for (String name : List.of("rc-acknowledge", "rc-read-request", "rc-atomic-acknowledge")) {
                byte[] packet = packets.get(name);
                if (packet != null) {
                    MemorySegment s = MemorySegment.ofArray(packet);
                    writer.write(1, s, 0, packet.length, PcapNgWriter.Direction.INBOUND, name);
                }
            }
        }
        save(wire.resolve("pcap"), "next-generation", file.toByteArray());
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static void save(Path folder, String name, byte[] bytes) throws IOException {
        Files.createDirectories(folder);
        Files.write(folder.resolve(name), bytes);
    }
}
