// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.devices;

import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.PortAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a device told about itself.
 *
 * @param attributes null when it could not be opened
 * @param problem why it could not be opened, else null
 */
record DeviceReport(
        DeviceInfo device,
        @Nullable DeviceAttributes attributes,
        List<PortAttributes> ports,
        List<GidEntry> gids,
        @Nullable String problem) {
    static DeviceReport of(DeviceContext context) {
        DeviceAttributes attributes = context.queryDevice();
        List<PortAttributes> ports = new ArrayList<>();
        List<GidEntry> gids = new ArrayList<>();
        for (int port = 1; port <= attributes.physicalPorts(); port++) {
            ports.add(context.queryPort(port));
            gids.addAll(context.gidTable(port));
        }
        return new DeviceReport(context.device(), attributes, ports, gids, null);
    }

    static DeviceReport unavailable(DeviceInfo device, String problem) {
        return new DeviceReport(device, null, List.of(), List.of(), problem);
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", device.name());
        json.put("provider", device.provider());
        json.put("wire", device.wire());
        json.put("interface", device.networkInterface());
        if (problem != null) {
            json.put("problem", problem);
        }
        if (attributes != null) {
            json.put("attributes", attributesJson(attributes));
        }
        if (!ports.isEmpty()) {
            json.put("ports", ports.stream().map(this::portJson).toList());
        }
        return json;
    }

    private static Map<String, Object> attributesJson(DeviceAttributes a) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("node_guid", DeviceText.guid(a.nodeGuid()));
        json.put("sys_image_guid", DeviceText.guid(a.systemImageGuid()));
        json.put("vendor_id", a.vendorId());
        json.put("vendor_part_id", a.vendorPartId());
        json.put("hw_ver", a.hardwareVersion());
        json.put("fw_ver", a.firmwareVersion());
        json.put("max_mr_size", a.maxMrSize());
        json.put("page_size_cap", a.pageSizeCap());
        json.put("max_qp", a.maxQp());
        json.put("max_qp_wr", a.maxQpWr());
        json.put("max_sge", a.maxSge());
        json.put("max_inline_data", a.maxInlineData());
        json.put("max_cq", a.maxCq());
        json.put("max_cqe", a.maxCqe());
        json.put("max_mr", a.maxMr());
        json.put("max_pd", a.maxPd());
        json.put("max_qp_rd_atom", a.maxQpRdAtomic());
        json.put("max_qp_init_rd_atom", a.maxQpInitRdAtomic());
        json.put("max_pkeys", a.maxPkeys());
        json.put("local_ca_ack_delay", a.localAckDelay());
        json.put("atomic_cap", a.atomicCapability().name());
        json.put("phys_port_cnt", a.physicalPorts());
        return json;
    }

    private Map<String, Object> portJson(PortAttributes port) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("port", port.port());
        json.put("state", port.state().name());
        json.put("max_mtu", port.maxMtu().bytes());
        json.put("active_mtu", port.activeMtu().bytes());
        json.put("max_msg_sz", port.maxMessageSize());
        json.put("link_layer", port.linkLayer().name());
        json.put("active_speed_mbps", port.activeSpeedMbps());
        json.put("gid_tbl_len", port.gidTableLength());
        json.put("pkey_tbl_len", port.pkeyTableLength());
        List<Map<String, Object>> entries = new ArrayList<>();
        for (GidEntry entry : gids) {
            if (entry.port() == port.port()) {
                Map<String, Object> gid = new LinkedHashMap<>();
                gid.put("index", entry.index());
                gid.put("gid", entry.gid().toString());
                gid.put("type", DeviceText.typeName(entry.type()));
                gid.put("interface", entry.networkInterface());
                entries.add(gid);
            }
        }
        json.put("gids", entries);
        return json;
    }
}
