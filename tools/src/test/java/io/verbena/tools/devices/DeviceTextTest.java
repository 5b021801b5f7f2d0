// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DeviceTextTest {
    private static DeviceReport open() throws Exception {
        return new DeviceReport(
                new DeviceInfo("rocev2:127.0.0.1", "soft", "RoCE v2", "lo"),
                new DeviceAttributes(
                        0x0200_00ff_fe00_0001L,
                        0x0200_00ff_fe00_0001L,
                        0x123,
                        7,
                        1,
                        "0.1.0",
                        1L << 40,
                        0xfffff000L,
                        100,
                        200,
                        32,
                        512,
                        300,
                        400,
                        500,
                        600,
                        16,
                        16,
                        40,
                        41,
                        42,
                        43,
                        44,
                        45,
                        46,
                        47,
                        1,
                        10,
                        DeviceAttributes.AtomicCapability.GLOBAL,
                        1,
                        Set.of(DeviceCapability.XRC)),
                List.of(new PortAttributes(
                        1,
                        PortAttributes.State.ACTIVE,
                        Mtu.MTU_4096,
                        Mtu.MTU_1024,
                        1L << 31,
                        8,
                        1,
                        PortAttributes.LinkLayer.ETHERNET,
                        10_000)),
                List.of(new GidEntry(Gid.of(InetAddress.getLoopbackAddress()), 0, 1, GidEntry.Type.ROCE_V2, "lo")),
                null);
    }

    private static DeviceReport taken() {
        return DeviceReport.unavailable(
                new DeviceInfo("rocev2:10.0.0.3", "soft", "RoCE v2", "eth0"),
                "UDP port 4791 of 10.0.0.3 is taken by java (pid 7); end it or use another address");
    }

    @Test
    void theTableHasALineForEachDeviceAndSaysWhyOneCannotBeOpened() throws Exception {
        assertThat(DeviceText.table(List.of(open(), taken())).lines())
                .containsExactly(
                        "device            wire     interface  state   active MTU",
                        "rocev2:127.0.0.1  RoCE v2  lo         ACTIVE  1024",
                        "rocev2:10.0.0.3   RoCE v2  eth0       UDP port 4791 of 10.0.0.3 is taken by java (pid 7);"
                                + " end it or use another address");
    }

    @Test
    void allAttributesHaveTheLayoutOfIbvDevinfo() throws Exception {
        assertThat(DeviceText.full(open()).lines())
                .startsWith("hca_id:\trocev2:127.0.0.1")
                .contains(
                        "\tfw_ver:\t\t\t\t0.1.0",
                        "\tnode_guid:\t\t\t0200:00ff:fe00:0001",
                        "\tvendor_id:\t\t\t0x0123",
                        "\tphys_port_cnt:\t\t\t1",
                        "\tmax_mr_size:\t\t\t0x10000000000",
                        "\tatomic_cap:\t\t\tATOMIC_GLOBAL",
                        "\t\tport:\t1",
                        "\t\t\tstate:\t\t\tPORT_ACTIVE (4)",
                        "\t\t\tmax_mtu:\t\t4096 (5)",
                        "\t\t\tactive_mtu:\t\t1024 (3)",
                        "\t\t\tlink_layer:\t\tEthernet",
                        "\t\t\tmax_msg_sz:\t\t0x80000000",
                        "\t\t\tGID[  0]:\t\t::ffff:127.0.0.1, RoCE v2");
        assertThat(DeviceText.full(taken())).contains("cannot be opened:\t\tUDP port 4791");
    }

    @Test
    void jsonHasTheSameFields() throws Exception {
        Map<String, Object> json = open().toJson();
        assertThat(json).containsEntry("name", "rocev2:127.0.0.1").doesNotContainKey("problem");
        assertThat(json.get("ports").toString()).contains("state=ACTIVE", "active_mtu=1024", "gid=::ffff:127.0.0.1");
        assertThat(taken().toJson()).containsKey("problem").doesNotContainKey("ports");
    }
}
