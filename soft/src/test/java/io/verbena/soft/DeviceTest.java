// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.Devices;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Devices by name, what they tell about themselves, and what strangers send to them. */
class DeviceTest {
    private static final int PORT = 4791;

    private static RdmaException fails(String name) {
        RdmaException e = catchThrowableOfType(RdmaException.class, () -> Devices.open(name));
        assertThat(e).isNotNull();
        return e;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2:1.2.3.4", "rocev2:2001:db8::1"})
    void anAddressOfAnotherHostIsNotFound(String name) {
        RdmaException e = fails(name);
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.NOT_FOUND);
        assertThat(e).hasMessageContaining(name).hasMessageContaining("rocev2:127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2:xyz", "rocev2:", "rocev2:127.0.0.999", "rocev2:localhost", "rocev2:::1:"})
    void whatIsNoAddressIsNotFound(String name) {
        RdmaException e = fails(name);
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.NOT_FOUND);
        assertThat(e).hasMessageContaining("not an IP address").hasMessageContaining("rocev2:127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"foo:bar", "", "mlx5_0", "ROCEV2:127.0.0.1"})
    void whatNoProviderKnowsIsNotFound(String name) {
        RdmaException e = fails(name);
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.NOT_FOUND);
        assertThat(e).hasMessageContaining("\"" + name + "\"").hasMessageContaining("rocev2:127.0.0.1");
    }

    @Test
    void aTakenAddressNamesWhoHasItAndWhatToDo() throws IOException {
        String address = "127." + ThreadLocalRandom.current().nextInt(64, 250) + ".3.4";
        try (DatagramSocket taken = new DatagramSocket(new InetSocketAddress(address, PORT))) {
            assertThat(taken.isBound()).isTrue();
            RdmaException e = fails("rocev2:" + address);
            assertThat(e.reason()).isEqualTo(RdmaException.Reason.ADDRESS_IN_USE);
            assertThat(e)
                    .hasMessageContaining(address)
                    .hasMessageContaining("4791")
                    .hasMessageContaining("127.0.0.2");
            if (System.getProperty("os.name").equals("Linux")) {
                assertThat(e).hasMessageContaining("" + ProcessHandle.current().pid());
            }
        }
        Devices.open("rocev2:" + address).close();
    }

    @Test
    void aDeviceCannotBeOpenedTwice() {
        try (DeviceContext context = TwoDevices.openFree()) {
            assertThat(fails(context.device().name()).reason()).isEqualTo(RdmaException.Reason.ADDRESS_IN_USE);
        }
    }

    @Test
    void devicesAreListedLoopbackFirst() {
        assertThat(Devices.list()).extracting(DeviceInfo::name).contains("rocev2:127.0.0.1");
        DeviceInfo first = Devices.list().getFirst();
        assertThat(first.provider()).isEqualTo("soft");
        assertThat(first.wire()).isEqualTo("RoCE v2");
        assertThat(first.networkInterface()).isEqualTo("lo");
    }

    @Test
    void aDeviceTellsItsLimitsAndItsPort() {
        try (DeviceContext context = TwoDevices.openFree()) {
            DeviceAttributes device = context.queryDevice();
            assertThat(device.maxSge()).isEqualTo(32);
            assertThat(device.physicalPorts()).isEqualTo(1);
            assertThat(device.maxMrSize()).isGreaterThan(1L << 32);
            assertThat(device.nodeGuid()).isNotZero();
            PortAttributes port = context.queryPort(1);
            assertThat(port.state()).isEqualTo(PortAttributes.State.ACTIVE);
            assertThat(port.activeMtu()).isEqualTo(Mtu.MTU_4096);
            assertThat(port.linkLayer()).isEqualTo(PortAttributes.LinkLayer.ETHERNET);
            String address = context.device().name().substring("rocev2:".length());
            Gid gid = Gid.of(InetAddress.ofLiteral(address));
            assertThat(context.gidTable(1)).containsExactly(new GidEntry(gid, 0, 1, GidEntry.Type.ROCE_V2, "lo"));
            assertThat(context.queryGid(1, 0)).isEqualTo(gid);
            assertThat(context.queryPartitionKey(1, 0)).isEqualTo(0xffff);
            for (int wrong : new int[] {0, 2, -1}) {
                assertThat(catchThrowableOfType(RdmaException.class, () -> context.queryPort(wrong)))
                        .hasMessageContaining("" + wrong);
            }
            assertThat(catchThrowableOfType(RdmaException.class, () -> context.queryGid(1, 1))
                            .reason())
                    .isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MAX_VALUE})
    void anImpossibleCompletionQueueIsRefused(int entries) {
        try (DeviceContext context = TwoDevices.openFree()) {
            RdmaException e = catchThrowableOfType(RdmaException.class, () -> context.createCompletionQueue(entries));
            assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
            assertThat(e).hasMessageContaining("" + entries);
        }
    }

    @Test
    void objectsOfAnotherDeviceAreMisuse() {
        try (TwoDevices devices = new TwoDevices()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> devices.a.domain.createQueuePair(QueuePairOptions.rc(devices.b.cq)))
                    .withMessageContaining("another device");
            var channel = devices.b.keep(devices.b.context.createCompletionChannel());
            assertThatIllegalArgumentException().isThrownBy(() -> devices.a.context.createCompletionQueue(1, channel));
        }
    }

    @Test
    void garbageOfEveryLengthIsDroppedAndCounted() throws Exception {
        try (TwoDevices devices = new TwoDevices();
                DatagramSocket stranger = new DatagramSocket(0, InetAddress.ofLiteral("127.0.0.1"))) {
            InetAddress target = address(devices.b.context);
            Map<String, Long> before = devices.b.context.counters();
            assertThat(devices.b.qp.state()).isEqualTo(QueuePairState.RTS);
            Random random = new Random(7);
            int sent = 0;
            for (int length = 0; length <= 100; length++) {
                byte[] bytes = new byte[length];
                for (int kind = 0; kind < 4; kind++) {
                    fillGarbage(bytes, kind, random, devices.b.qp.qpNumber());
                    stranger.send(new DatagramPacket(bytes, length, target, PORT));
                    sent++;
                }
                devices.a.qp.postWrite(
                        length, devices.a.region, 0, 100, devices.b.region.address(), devices.b.region.rkey(), 2);
                devices.a.next().orThrow();
            }
            stranger.send(new DatagramPacket(new byte[60_000], 60_000, target, PORT));
            sent++;
            assertDropped(devices, before, sent);
        }
    }

    /** All random, nothing but zeros, a BTH for a real queue pair with every opcode, or a BTH for nobody. */
    private static void fillGarbage(byte[] bytes, int kind, Random random, int qpNumber) {
        if (kind != 1) {
            random.nextBytes(bytes);
        }
        if (kind >= 2 && bytes.length >= 12) {
            bytes[0] = (byte) random.nextInt(0x20);
            bytes[1] = 0;
            bytes[2] = (byte) 0xff;
            bytes[3] = (byte) 0xff;
            int number = kind == 2 ? qpNumber : qpNumber ^ 0x5500;
            bytes[5] = (byte) (number >> 16);
            bytes[6] = (byte) (number >> 8);
            bytes[7] = (byte) number;
        }
    }

    private static void assertDropped(TwoDevices devices, Map<String, Long> before, int sent) throws Exception {
        // Datagrams are handled in order, so a completed WRITE says that all before it were looked at.
        devices.a.qp.postWrite(
                1, devices.a.region, 0, 100, devices.b.region.address(), devices.b.region.rkey(), SendFlags.SIGNALED);
        devices.a.next().orThrow();
        Map<String, Long> after = devices.b.context.counters();
        long dropped = 0;
        for (String name : after.keySet()) {
            if (name.startsWith("drop.")) {
                dropped += after.get(name) - before.get(name);
            }
        }
        assertThat(dropped).as(after.toString()).isEqualTo(sent);
        assertThat(after.get("drop.too_short")).isPositive();
        assertThat(after.get("drop.no_queue_pair")).isPositive();
        assertThat(after.get("drop.wrong_address")).isPositive();
        assertThat(after.get("drop.bad_version")).isPositive();
        assertThat(after.get("drop.unknown_opcode")).isPositive();
        assertThat(devices.b.qp.state()).isEqualTo(QueuePairState.RTS);
    }

    static InetAddress address(DeviceContext context) {
        return InetAddress.ofLiteral(context.device().name().substring("rocev2:".length()));
    }

    @Test
    void queuePairsOfOneDeviceTalkToEachOther() throws InterruptedException {
        try (DeviceContext context = TwoDevices.openFree()) {
            talkToItself(context);
        }
    }

    @Test
    void queuePairsOfOneDeviceTalkToEachOtherOverIpv6() throws InterruptedException {
        DeviceContext context;
        try {
            context = Devices.open("rocev2:::1");
        } catch (RdmaException e) {
            Assumptions.abort("no free ::1 here: " + e.getMessage());
            return;
        }
        try (context) {
            assertThat(context.queryGid(1, 0)).isEqualTo(new Gid(0, 1));
            talkToItself(context);
        }
    }

    private static void talkToItself(DeviceContext context) throws InterruptedException {
        MemorySegment memory = Arena.ofAuto().allocate(1 << 20, 64);
        WorkCompletion completion = new WorkCompletion();
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.register(memory, TwoDevices.ALL);
                CompletionQueue cq = context.createCompletionQueue(64);
                QueuePair one = domain.createQueuePair(QueuePairOptions.rc(cq));
                QueuePair other = domain.createQueuePair(QueuePairOptions.rc(cq));
                QueuePair mirror = domain.createQueuePair(QueuePairOptions.rc(cq))) {
            TwoDevices.connect(one, other, new QueuePairAttributes());
            // A queue pair connected to itself.
            mirror.connect(mirror.endpoint());
            int size = 200_003;
            for (QueuePair qp : new QueuePair[] {one, other, mirror}) {
                new Random(qp.qpNumber()).ints(size / 4).forEach(new java.util.function.IntConsumer() {
                    private long at;

                    @Override
                    public void accept(int value) {
                        memory.set(java.lang.foreign.ValueLayout.JAVA_INT, at, value);
                        at += 4;
                    }
                });
                qp.postWrite(1, region, 0, size, region.address() + 300_000, region.rkey(), SendFlags.SIGNALED);
                qp.postRead(2, region, 600_000, size, region.address() + 300_000, region.rkey(), SendFlags.SIGNALED);
                for (int i = 0; i < 2; i++) {
                    assertThat(cq.await(completion, TwoDevices.TIMEOUT)).isTrue();
                    completion.orThrow();
                }
                assertThat(memory.asSlice(0, size).mismatch(memory.asSlice(300_000, size)))
                        .isEqualTo(-1);
                assertThat(memory.asSlice(0, size).mismatch(memory.asSlice(600_000, size)))
                        .isEqualTo(-1);
            }
            mirror.postReceive(3, region, 0, 64);
            mirror.postSend(4, region, 1000, 64, SendFlags.SIGNALED);
            for (int i = 0; i < 2; i++) {
                assertThat(cq.await(completion, TwoDevices.TIMEOUT)).isTrue();
                completion.orThrow();
            }
        }
    }
}
