// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.devices;

import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** Devices as text: a table, or the layout of {@code ibv_devinfo -v}. */
final class DeviceText {
    private static final List<String> HEADINGS = List.of("device", "wire", "interface", "state", "active MTU");

    private DeviceText() {}

    static String table(List<DeviceReport> reports) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEADINGS);
        for (DeviceReport report : reports) {
            String problem = report.problem();
            PortAttributes port =
                    report.ports().isEmpty() ? null : report.ports().getFirst();
            rows.add(List.of(
                    report.device().name(),
                    report.device().wire(),
                    report.device().networkInterface(),
                    problem != null
                            ? problem
                            : port == null ? "no port" : port.state().name(),
                    port == null ? "" : Integer.toString(port.activeMtu().bytes())));
        }
        int[] widths = new int[HEADINGS.size()];
        for (int i = 0; i < rows.size(); i++) {
            // A reason may be long; it does not push the other columns away.
            int columns = i > 0 && reports.get(i - 1).problem() != null ? 3 : HEADINGS.size();
            for (int column = 0; column < columns; column++) {
                widths[column] =
                        Math.max(widths[column], rows.get(i).get(column).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                line.append(cell).append(" ".repeat(Math.max(0, widths[column] - cell.length()) + 2));
            }
            text.append(line.toString().stripTrailing()).append(System.lineSeparator());
        }
        return text.toString();
    }

    static String full(DeviceReport report) {
        StringBuilder text = new StringBuilder();
        line(text, "hca_id:\t%s", report.device().name());
        line(text, "\ttransport:\t\t\t%s", report.device().wire());
        line(text, "\tprovider:\t\t\t%s", report.device().provider());
        line(text, "\tinterface:\t\t\t%s", report.device().networkInterface());
        if (report.problem() != null) {
            line(text, "\tcannot be opened:\t\t%s", report.problem());
        }
        DeviceAttributes attributes = report.attributes();
        if (attributes != null) {
            attributes(text, attributes);
        }
        for (PortAttributes port : report.ports()) {
            port(text, port);
            for (GidEntry gid : report.gids()) {
                if (gid.port() == port.port()) {
                    line(text, "\t\t\tGID[%3d]:\t\t%s, %s", gid.index(), gid.gid(), typeName(gid.type()));
                }
            }
        }
        return text.append(System.lineSeparator()).toString();
    }

    private static void attributes(StringBuilder text, DeviceAttributes a) {
        line(text, "\tfw_ver:\t\t\t\t%s", a.firmwareVersion());
        line(text, "\tnode_guid:\t\t\t%s", guid(a.nodeGuid()));
        line(text, "\tsys_image_guid:\t\t\t%s", guid(a.systemImageGuid()));
        line(text, "\tvendor_id:\t\t\t0x%04x", a.vendorId());
        line(text, "\tvendor_part_id:\t\t\t%d", a.vendorPartId());
        line(text, "\thw_ver:\t\t\t\t0x%X", a.hardwareVersion());
        line(text, "\tphys_port_cnt:\t\t\t%d", a.physicalPorts());
        line(text, "\tmax_mr_size:\t\t\t0x%x", a.maxMrSize());
        line(text, "\tpage_size_cap:\t\t\t0x%x", a.pageSizeCap());
        line(text, "\tmax_qp:\t\t\t\t%d", a.maxQp());
        line(text, "\tmax_qp_wr:\t\t\t%d", a.maxQpWr());
        line(text, "\tmax_sge:\t\t\t%d", a.maxSge());
        line(text, "\tmax_inline_data:\t\t%d", a.maxInlineData());
        line(text, "\tmax_cq:\t\t\t\t%d", a.maxCq());
        line(text, "\tmax_cqe:\t\t\t%d", a.maxCqe());
        line(text, "\tmax_mr:\t\t\t\t%d", a.maxMr());
        line(text, "\tmax_pd:\t\t\t\t%d", a.maxPd());
        line(text, "\tmax_qp_rd_atom:\t\t\t%d", a.maxQpRdAtomic());
        line(text, "\tmax_qp_init_rd_atom:\t\t%d", a.maxQpInitRdAtomic());
        line(text, "\tatomic_cap:\t\t\tATOMIC_%s", a.atomicCapability());
        line(text, "\tmax_pkeys:\t\t\t%d", a.maxPkeys());
        line(text, "\tlocal_ca_ack_delay:\t\t%d", a.localAckDelay());
    }

    private static void port(StringBuilder text, PortAttributes port) {
        line(text, "\t\tport:\t%d", port.port());
        line(text, "\t\t\tstate:\t\t\tPORT_%s (%d)", port.state(), port.state().ordinal());
        line(text, "\t\t\tmax_mtu:\t\t%s", mtu(port.maxMtu()));
        line(text, "\t\t\tactive_mtu:\t\t%s", mtu(port.activeMtu()));
        line(text, "\t\t\tlink_layer:\t\t%s", linkLayer(port.linkLayer()));
        line(text, "\t\t\tmax_msg_sz:\t\t0x%x", port.maxMessageSize());
        line(text, "\t\t\tactive_speed:\t\t%s", speed(port.activeSpeedMbps()));
        line(text, "\t\t\tgid_tbl_len:\t\t%d", port.gidTableLength());
        line(text, "\t\t\tpkey_tbl_len:\t\t%d", port.pkeyTableLength());
    }

    /** Four groups of four digits, as ibv_devinfo prints it. */
    static String guid(long guid) {
        String digits = HexFormat.of().toHexDigits(guid);
        return digits.substring(0, 4) + ":" + digits.substring(4, 8) + ":" + digits.substring(8, 12) + ":"
                + digits.substring(12);
    }

    static String typeName(GidEntry.Type type) {
        return switch (type) {
            case INFINIBAND -> "InfiniBand";
            case ROCE_V1 -> "RoCE v1";
            case ROCE_V2 -> "RoCE v2";
            case IWARP -> "iWARP";
        };
    }

    private static String linkLayer(PortAttributes.LinkLayer layer) {
        return switch (layer) {
            case ETHERNET -> "Ethernet";
            case INFINIBAND -> "InfiniBand";
            case UNSPECIFIED -> "Unspecified";
        };
    }

    private static String mtu(Mtu mtu) {
        return mtu.bytes() + " (" + mtu.code() + ")";
    }

    private static String speed(long mbps) {
        return mbps == 0 ? "unknown" : String.format(Locale.ROOT, "%.1f Gb/s", mbps / 1000.0);
    }

    @SuppressWarnings("AnnotateFormatMethod") // Its annotation would be a dependency.
    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }
}
