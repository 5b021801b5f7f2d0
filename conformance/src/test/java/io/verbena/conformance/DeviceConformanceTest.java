// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.RdmaException.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;

/** DEV: devices, ports and contexts tell who they are and what they can. */
class DeviceConformanceTest extends ConformanceSuite {
    @Test
    @Conforms("DEV-1")
    void everyDeviceThatIsListedOpensByItsName() {
        requireList();
        List<String> names = devices.others();
        assertThat(names).isNotEmpty();
        for (String name : names) {
            try (DeviceContext context = devices.open(name)) {
                assertThat(context.device().name()).isEqualTo(name);
                assertThat(context.isOpen()).isTrue();
            } catch (RdmaException e) {
                // Another process, such as a test of another module, has it just now.
                assertThat(e.reason()).as("%s: %s", name, e).isEqualTo(Reason.ADDRESS_IN_USE);
            }
        }
    }

    @Test
    @Conforms("DEV-1")
    void anUnknownNameIsAnError() {
        requireList();
        assertThat(refusal(() -> devices.open("nobody:has:this")))
                .hasMessageContaining("nobody:has:this")
                .extracting(RdmaException::reason)
                .isEqualTo(Reason.NOT_FOUND);
    }

    @Test
    @Conforms("DEV-2")
    void aDeviceIdentifiesItself() {
        DeviceAttributes attributes = a.context.queryDevice();
        assertThat(attributes.nodeGuid()).isNotZero();
        assertThat(attributes.systemImageGuid()).isNotZero();
        assertThat(attributes.vendorId()).isNotZero();
        assertThat(b.context.queryDevice().nodeGuid()).isNotEqualTo(attributes.nodeGuid());
    }

    @Test
    @Conforms("DEV-3")
    void limitsAreReal() {
        DeviceAttributes attributes = a.context.queryDevice();
        int page = 4096;
        assertThat(attributes.maxMrSize()).isGreaterThan(page);
        assertThat(attributes.pageSizeCap() & page).as("pages of 4 KiB").isNotZero();
        assertThat(List.of(
                        attributes.maxQp(),
                        attributes.maxQpWr(),
                        attributes.maxSge(),
                        attributes.maxCq(),
                        attributes.maxCqe(),
                        attributes.maxMr(),
                        attributes.maxPd()))
                .allMatch(limit -> limit > 0);
    }

    @Test
    @Conforms("DEV-4")
    void aDeviceHasPartitionKeys() {
        assertThat(a.context.queryDevice().maxPkeys()).isPositive();
        assertThat(port().pkeyTableLength()).isPositive();
    }

    @Test
    @Conforms({"DEV-5", "DEV-7"})
    void thePortsThatAreCountedAnswerAndNoOthers() {
        int ports = a.context.queryDevice().physicalPorts();
        assertThat(ports).isPositive();
        for (int port = 1; port <= ports; port++) {
            assertThat(a.context.queryPort(port).port()).isEqualTo(port);
        }
        assertRefused(Reason.INVALID_ARGUMENT, () -> a.context.queryPort(0));
        assertRefused(Reason.INVALID_ARGUMENT, () -> a.context.queryPort(ports + 1));
        assertRefused(Reason.INVALID_ARGUMENT, () -> a.context.gidTable(ports + 1));
    }

    @Test
    @Conforms({"DEV-6", "DEV-8"})
    void aPortTellsItsState() {
        PortAttributes port = port();
        assertThat(port.state()).isEqualTo(PortAttributes.State.ACTIVE);
        assertThat(port.activeMtu()).isLessThanOrEqualTo(port.maxMtu());
        assertThat(port.maxMessageSize()).isGreaterThan(0x1000);
        assertThat(port.linkLayer()).isNotEqualTo(PortAttributes.LinkLayer.UNSPECIFIED);
        assertThat(port.activeSpeedMbps()).isNotNegative();
    }

    @Test
    @Conforms("DEV-9")
    void partitionKeyZeroReads() {
        int key = a.context.queryPartitionKey(1, 0);
        assertThat(key & 0x7fff).as("a partition").isNotZero();
        assertThat(key & ~0xffff).as("bits above 16").isZero();
        int found = 0;
        while (a.context.queryPartitionKey(1, found) != key) {
            found++;
        }
        assertThat(found).as("where it is found").isZero();
        int length = port().pkeyTableLength();
        assertRefused(Reason.INVALID_ARGUMENT, () -> a.context.queryPartitionKey(1, length));
    }

    @Test
    @Conforms({"DEV-10", "DEV-11", "DEV-12"})
    void theGidTableIsWhatItsIndicesRead() {
        int length = port().gidTableLength();
        List<GidEntry> table = a.context.gidTable(1);
        assertThat(table).isNotEmpty().hasSizeLessThanOrEqualTo(length);
        assertThat(table).extracting(GidEntry::index).doesNotHaveDuplicates().allMatch(i -> i >= 0 && i < length);
        assertThat(table).allSatisfy(entry -> {
            assertThat(entry.port()).isEqualTo(1);
            assertThat(entry.gid().isZero()).isFalse();
        });
        for (int i = 0; i < length; i++) {
            int index = i;
            Gid expected = table.stream()
                    .filter(entry -> entry.index() == index)
                    .findFirst()
                    .map(GidEntry::gid)
                    .orElse(Gid.ZERO);
            assertThat(a.context.queryGid(1, index)).isEqualTo(expected);
        }
        assertRefused(Reason.INVALID_ARGUMENT, () -> a.context.queryGid(1, length));
    }

    @Test
    @Conforms("DEV-14")
    void anEventArrivesAndItsObjectCanBeClosed() throws InterruptedException {
        a.assertNoEvent("before anything happened");
        CompletionQueue small = a.keep(a.context.createCompletionQueue(1));
        int sends = small.capacity() + 1;
        Pair pair =
                new Pair(a.queuePair(QueuePairOptions.rc(small).withQueueDepth(sends, 1)), b.queuePair(b.rcOptions()));
        pair.connect(usual());
        for (int i = 0; i < sends; i++) {
            pair.a().postWrite(i, a.region, 0, 8, b.region.address(), b.region.rkey(), SIGNALED);
        }
        assertThat(a.context.awaitAsyncEvent(limit())).isEqualTo(new AsyncEvent.CompletionQueueError(small));
    }

    private void requireList() {
        assumeTrue(provider.listsDevices(), "a list of devices");
    }

    private PortAttributes port() {
        return a.context.queryPort(1);
    }
}
