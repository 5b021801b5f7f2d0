// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import static java.util.Locale.ROOT;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The initiator's part of the demo, step by step; each step checks what it did. */
final class DemoTour {
    private static final int CHUNK = 1 << 20;
    private static final int SMALL = 64;
    private static final int ROUNDS = 1000;
    private static final int SENDS = 256;
    /** How often the large transfers are done before the one that counts, and that one. */
    private static final int WARM_ROUNDS = 6;

    private static final int SWAPS = 200;
    private static final int COUNTING_LINKS = 4;
    private static final int COUNTS = 1000;
    private static final String MESSAGE = "Good night! Your memory is in good hands.";
    /**
     * Where in the target's small region things are: the sum, the word to swap, and the same two for the recorded part.
     */
    private static final int SUM = 0;

    private static final int SWAP = 8;
    private static final int RECORDED_SUM = 16;
    private static final int RECORDED_SWAP = 24;
    private static final int RECORDED_BYTES = 3000;

    private final DemoStory story;
    private final Path capture;
    private final long size;
    private final DeviceContext device;
    private final DeviceContext recordedDevice;
    private final MemorySegment source;
    private final MemorySegment copy;
    private final MemoryRegion sourceRegion;
    private final MemoryRegion copyRegion;
    private final MemoryRegion scratch;
    private final MemoryRegion recordedScratch;
    private final DemoLink main;
    private final List<DemoLink> counting = new ArrayList<>();
    private final DemoLink trespasser;
    private final DemoLink afterwards;
    private final DemoLink recorded;
    private final DemoLink recordedTrespasser;
    private final TargetProcess targetProcess;
    private final TargetInfo target;
    private final List<Measurement> measurements = new ArrayList<>();

    DemoTour(Resources resources, DemoStory story, long size, Path capture) throws InterruptedException {
        this.story = story;
        this.size = size;
        this.capture = capture;
        story.say("Verbena demo: two processes on this machine, each with an RDMA network card made of software.");
        device = resources.add(DevicePicker.openLoopback(1, DeviceOptions.defaults()));
        int number = addressNumber(device);
        recordedDevice = resources.add(
                DevicePicker.openLoopback(number + 2, DeviceOptions.defaults().withCaptureFile(capture)));
        Arena arena = resources.arena();
        ProtectionDomain domain = resources.add(device.allocateProtectionDomain());
        ProtectionDomain recordedDomain = resources.add(recordedDevice.allocateProtectionDomain());
        source = arena.allocate(size, 4096);
        copy = arena.allocate(size, 4096);
        sourceRegion = resources.add(domain.register(source, AccessFlag.LOCAL_WRITE));
        copyRegion = resources.add(domain.register(copy, AccessFlag.LOCAL_WRITE));
        scratch = resources.add(domain.register(arena.allocate(4096, 4096), AccessFlag.LOCAL_WRITE));
        recordedScratch =
                resources.add(recordedDomain.register(arena.allocate(2 * 4096, 4096), AccessFlag.LOCAL_WRITE));
        main = new DemoLink(resources, device, domain);
        for (int i = 0; i < COUNTING_LINKS; i++) {
            counting.add(new DemoLink(resources, device, domain));
        }
        trespasser = new DemoLink(resources, device, domain);
        afterwards = new DemoLink(resources, device, domain);
        recorded = new DemoLink(resources, recordedDevice, recordedDomain);
        recordedTrespasser = new DemoLink(resources, recordedDevice, recordedDomain);
        List<DemoLink> links = links();
        List<QueuePairEndpoint> endpoints =
                links.stream().map(DemoLink::endpoint).toList();
        targetProcess = resources.add(TargetProcess.start(
                size,
                number + 1,
                endpoints,
                List.of(links.indexOf(main), links.indexOf(recorded)),
                links.indexOf(recorded)));
        target = targetProcess.awaitReady();
        for (int i = 0; i < links.size(); i++) {
            DemoLink link = links.get(i);
            QueuePairEndpoint peer = target.endpoints().get(i);
            if (link == recorded) {
                link.connect(peer, DemoTargetCommand.NARROW_MTU);
            } else {
                link.connect(peer);
            }
        }
    }

    private List<DemoLink> links() {
        List<DemoLink> links = new ArrayList<>(List.of(main));
        links.addAll(counting);
        links.addAll(List.of(trespasser, afterwards, recorded, recordedTrespasser));
        return links;
    }

    private static int addressNumber(DeviceContext device) {
        String name = device.device().name();
        return Integer.parseInt(name.substring(name.lastIndexOf('.') + 1));
    }

    String initiatorDevice() {
        return device.device().name();
    }

    String targetDevice() {
        return target.device();
    }

    List<Measurement> measurements() {
        return List.copyOf(measurements);
    }

    void run() throws InterruptedException {
        story.say(String.format(
                ROOT,
                "  initiator  %-20s process %d, this one",
                initiatorDevice(),
                ProcessHandle.current().pid()));
        story.say(String.format(
                ROOT,
                "  target     %-20s process %d; it registered %s at 0x%x, told its key, 0x%08x,",
                targetDevice(),
                targetProcess.pid(),
                ByteSize.format(size),
                target.memoryAddress(),
                target.memoryKey()));
        story.say("                                  and from now on its program sleeps. Only its card works.");
        String hash = write();
        read(hash);
        send();
        count();
        swap();
        trespass();
        measure();
        record();
        wake(hash);
    }

    private String write() throws InterruptedException {
        Memory.fillRandomly(source);
        String hash = Memory.hash(source);
        story.step("write", "WRITE: put " + ByteSize.format(size) + " of random bytes into the target's memory.");
        Measurement result = writeAll();
        story.result("done in " + millis(result) + " ms; the target was not asked and did not notice");
        return hash;
    }

    private Measurement writeAll() throws InterruptedException {
        int chunk = chunk();
        return main.pipelined("WRITE", chunk, chunks(), (qp, number, flags) -> {
            long offset = number * chunk;
            qp.postWrite(
                    number,
                    sourceRegion,
                    offset,
                    length(offset),
                    target.memoryAddress() + offset,
                    target.memoryKey(),
                    flags);
        });
    }

    private void read(String hash) throws InterruptedException {
        story.step("read", "READ: fetch it all back, and compare SHA-256.");
        Measurement result = readAll();
        String got = Memory.hash(copy);
        verify(got.equals(hash), "what was read back differs: " + got + " and not " + hash);
        story.result("done in " + millis(result) + " ms; both are " + hash.substring(0, 16) + "...");
    }

    private Measurement readAll() throws InterruptedException {
        int chunk = chunk();
        return main.pipelined("READ", chunk, chunks(), (qp, number, flags) -> {
            long offset = number * chunk;
            qp.postRead(
                    number,
                    copyRegion,
                    offset,
                    length(offset),
                    target.memoryAddress() + offset,
                    target.memoryKey(),
                    flags);
        });
    }

    /** The first time, a Java virtual machine interprets most of what it runs; the table shows what comes after. */
    private void measureLarge() throws InterruptedException {
        Measurement write = writeAll();
        Measurement read = readAll();
        for (int round = 1; round < WARM_ROUNDS; round++) {
            write = writeAll();
            read = readAll();
        }
        measurements.add(0, write);
        measurements.add(1, read);
    }

    private int chunk() {
        return (int) Math.min(CHUNK, size);
    }

    private int chunks() {
        return Math.toIntExact((size + chunk() - 1) / chunk());
    }

    private int length(long offset) {
        return (int) Math.min(chunk(), size - offset);
    }

    private void send() throws InterruptedException {
        story.step("send", "SEND: a message into one of the receive buffers that the target laid out before it slept.");
        byte[] text = MESSAGE.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(text, 0, scratch.segment(), ValueLayout.JAVA_BYTE, 0, text.length);
        main.once("SEND", (qp, number, flags) -> qp.postSend(number, scratch, 0, text.length, flags));
        story.result("acknowledged by its card; the program will find it when it wakes up");
    }

    private void count() throws InterruptedException {
        story.step(
                "fetch_add",
                "FETCH_ADD: " + COUNTING_LINKS + " queue pairs at once add 1 to the same counter, " + COUNTS
                        + " times each.");
        List<Measurement> results = new ArrayList<>();
        BitSet seen = new BitSet();
        long start = System.nanoTime();
        try (ExecutorService threads = Executors.newFixedThreadPool(COUNTING_LINKS)) {
            List<Future<Measurement>> running = new ArrayList<>();
            for (int i = 0; i < COUNTING_LINKS; i++) {
                int index = i;
                running.add(threads.submit(() -> countOn(index, seen)));
            }
            for (Future<Measurement> one : running) {
                results.add(one.get());
            }
        } catch (ExecutionException e) {
            throw new CommandFailure(
                    String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()), e);
        }
        long nanos = System.nanoTime() - start;
        Measurement all = results.getFirst();
        for (Measurement more : results.subList(1, results.size())) {
            all.latency().add(more.latency());
        }
        int expected = COUNTING_LINKS * COUNTS;
        measurements.add(new Measurement("FETCH_ADD x" + COUNTING_LINKS, Long.BYTES, expected, nanos, all.latency()));
        long sum = counter(SUM);
        verify(sum == expected, "the counter is " + sum + " and not " + expected);
        verify(
                seen.cardinality() == expected && seen.length() == expected,
                "the values before each addition should be all numbers below " + expected + ", each once; "
                        + seen.cardinality() + " different ones came");
        story.result(
                "the counter is " + sum + ", and each value from 0 to " + (expected - 1) + " was seen exactly once");
    }

    private Measurement countOn(int index, BitSet seen) throws InterruptedException {
        long offset = 64L * (index + 1);
        MemorySegment old = scratch.segment().asSlice(offset, Long.BYTES);
        Measurement result = counting.get(index).oneByOne("FETCH_ADD", Long.BYTES, COUNTS, (qp, number, flags) -> {
            if (number > 0) {
                mark(seen, old);
            }
            qp.postFetchAndAdd(
                    number,
                    scratch.address() + offset,
                    scratch.lkey(),
                    target.countersAddress() + SUM,
                    target.countersKey(),
                    1,
                    flags);
        });
        mark(seen, old);
        return result;
    }

    private static void mark(BitSet seen, MemorySegment value) {
        long number = value.get(ValueLayout.JAVA_LONG, 0);
        synchronized (seen) {
            seen.set((int) Math.min(Math.max(number, 0), Integer.MAX_VALUE - 1));
        }
    }

    private void swap() throws InterruptedException {
        story.step("cmp_swap", "CMP_SWAP: put 42 where there is 0; then try to put 7 where there is 0.");
        long first = compareAndSwap(main, scratch, target.countersAddress() + SWAP, 0, 42);
        long second = compareAndSwap(main, scratch, target.countersAddress() + SWAP, 0, 7);
        long now = counter(SWAP);
        verify(first == 0 && second == 42 && now == 42, "saw " + first + " and " + second + ", and it is now " + now);
        story.result("the first found 0 and swapped; the second found 42 and left it alone");
    }

    private long compareAndSwap(DemoLink link, MemoryRegion into, long address, long compare, long swap)
            throws InterruptedException {
        link.once(
                "CMP_SWAP",
                (qp, number, flags) -> qp.postCompareAndSwap(
                        number, into.address(), into.lkey(), address, target.countersKey(), compare, swap, flags));
        return into.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    private long counter(int offset) throws InterruptedException {
        main.read(scratch, 0, Long.BYTES, target.countersAddress() + offset, target.countersKey());
        return scratch.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    private void trespass() throws InterruptedException {
        story.step("trespass", "WRITE 16 bytes, of which the last 8 lie behind the end of what the target registered.");
        long end = target.memoryAddress() + target.memoryLength();
        WorkCompletion completion = trespasser.attempt(
                "WRITE",
                (qp, number, flags) -> qp.postWrite(number, scratch, 0, 16, end - 8, target.memoryKey(), flags));
        verify(
                completion.status() == WorkCompletionStatus.REM_ACCESS_ERR,
                "a WRITE out of bounds ended with " + completion.status() + " and not with REM_ACCESS_ERR");
        verify(
                trespasser.state().equals("ERR"),
                "after that the queue pair is in " + trespasser.state() + " and not in ERR");
        afterwards.read(scratch, 512, 8, end - 8, target.memoryKey());
        long last = scratch.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 512);
        verify(last == source.get(ValueLayout.JAVA_LONG_UNALIGNED, size - 8), "the last 8 bytes inside were changed");
        story.result("REM_ACCESS_ERR: the target's card refused, wrote nothing, and closed that one queue pair;"
                + " a fresh one works");
    }

    private void measure() throws InterruptedException {
        story.step("measure", "The same again, now that the JVM is warm, and small ones, one after the other.");
        measureLarge();
        long address = target.memoryAddress();
        int key = target.memoryKey();
        measurements.add(afterwards.oneByOne(
                "WRITE",
                SMALL,
                ROUNDS,
                (qp, number, flags) -> qp.postWrite(number, sourceRegion, 0, SMALL, address, key, flags)));
        measurements.add(afterwards.oneByOne(
                "READ",
                SMALL,
                ROUNDS,
                (qp, number, flags) -> qp.postRead(number, copyRegion, 0, SMALL, address, key, flags)));
        measurements.add(main.oneByOne(
                "SEND", SMALL, SENDS, (qp, number, flags) -> qp.postSend(number, sourceRegion, 0, SMALL, flags)));
        measurements.add(afterwards.oneByOne(
                "CMP_SWAP",
                Long.BYTES,
                SWAPS,
                (qp, number, flags) -> qp.postCompareAndSwap(
                        number,
                        scratch.address(),
                        scratch.lkey(),
                        target.countersAddress() + SWAP,
                        target.countersKey(),
                        0,
                        0,
                        flags)));
        story.result("the table below has them");
    }

    /**
     * Everything once more and small, from a device that writes down its packets: 64 MiB of them would be too many to
     * look at.
     */
    private void record() throws InterruptedException {
        story.step(
                "capture",
                "Everything once more, small, from " + recordedDevice.device().name() + ", whose packets go to "
                        + capture + ".");
        MemorySegment memory = recordedScratch.segment();
        MemorySegment sent = source.asSlice(0, Math.min(RECORDED_BYTES, size));
        int length = (int) sent.byteSize();
        long inRegion = 4096;
        MemorySegment.copy(sent, 0, memory, inRegion, length);
        long address = target.memoryAddress();
        int key = target.memoryKey();
        recorded.once(
                "WRITE",
                (qp, number, flags) -> qp.postWrite(number, recordedScratch, inRegion, length, address, key, flags));
        recorded.read(recordedScratch, 0, length, address, key);
        verify(memory.asSlice(0, length).mismatch(sent) == -1, "what was read back differs");
        recorded.once(
                "SEND",
                (qp, number, flags) ->
                        qp.postSend(number, recordedScratch, inRegion, SMALL, flags | SendFlags.SOLICITED));
        recorded.once(
                "FETCH_ADD",
                (qp, number, flags) -> qp.postFetchAndAdd(
                        number,
                        recordedScratch.address(),
                        recordedScratch.lkey(),
                        target.countersAddress() + RECORDED_SUM,
                        target.countersKey(),
                        5,
                        flags));
        long old = compareAndSwap(recorded, recordedScratch, target.countersAddress() + RECORDED_SWAP, 0, 1);
        verify(old == 0, "a word that nobody touched was " + old);
        WorkCompletion refused = recordedTrespasser.attempt(
                "WRITE",
                (qp, number, flags) ->
                        qp.postWrite(number, recordedScratch, 0, 16, address + target.memoryLength() - 8, key, flags));
        verify(
                refused.status() == WorkCompletionStatus.REM_ACCESS_ERR,
                "a WRITE out of bounds ended with " + refused.status());
        story.result("WRITE, READ, SEND, FETCH_ADD, CMP_SWAP, their answers, and the refusal");
    }

    private void wake(String hash) throws InterruptedException {
        story.step("wake", "The target wakes up and looks at its own memory.");
        TargetReport report = targetProcess.wake();
        verify(report.hash().equals(hash), "the target's memory has hash " + report.hash() + " and not " + hash);
        verify(report.message().equals(MESSAGE), "the target received \"" + report.message() + "\"");
        int messages = 1 + SENDS + 1;
        verify(
                report.messages() == messages,
                "the target received " + report.messages() + " messages and not " + messages);
        verify(report.sum() == (long) COUNTING_LINKS * COUNTS, "the target's counter is " + report.sum());
        story.result("the same hash; the counter; " + messages + " messages, the first: \"" + report.message() + "\"");
        story.result(String.format(
                ROOT,
                "while all this went on, its program used %.2f ms of CPU; its memory was worked on without it",
                report.cpuNanos() / 1e6));
    }

    private static String millis(Measurement measurement) {
        return String.format(ROOT, "%.0f", measurement.nanos() / 1e6);
    }

    private static void verify(boolean holds, String otherwise) {
        if (!holds) {
            throw new CommandFailure("the demo found something wrong: " + otherwise);
        }
    }
}
