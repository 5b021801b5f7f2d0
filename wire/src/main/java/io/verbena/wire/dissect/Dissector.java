// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.dissect;

import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Drep;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.IpCm;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Mra;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Rep;
import io.verbena.wire.cm.Req;
import io.verbena.wire.cm.Rtu;
import io.verbena.wire.cm.SidrRep;
import io.verbena.wire.cm.SidrReq;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.AtomicAckEth;
import io.verbena.wire.ib.AtomicEth;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.FlushEth;
import io.verbena.wire.ib.Grh;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Ieth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import io.verbena.wire.ib.XrcEth;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import java.lang.foreign.MemorySegment;

/**
 * Says in one line what a RoCE packet is. A total function: any bytes give a line, none an exception.
 *
 * <p>Not thread-safe, for it has an {@link Icrc}.
 */
public final class Dissector {
    private final Icrc icrc = new Icrc();

    public Dissector() {}

    /** A packet from its destination MAC on. */
    public String ethernet(MemorySegment s, long offset, long bytes) {
        Text text = new Text();
        if (!inside(s, offset, bytes)) {
            return text.add("no such bytes").toString();
        }
        if (bytes < Ethernet.BYTES) {
            return text.truncated("Ethernet", bytes).toString();
        }
        long end = offset + bytes;
        long at = offset + Ethernet.BYTES;
        int type = Ethernet.type(s, offset);
        if (type == Ethernet.TYPE_VLAN && end - at >= Ethernet.TAG_BYTES) {
            text.add("vlan ").add(BigEndian.u16(s, at) & 0xfff).add(' ');
            type = BigEndian.u16(s, at + 2);
            at += Ethernet.TAG_BYTES;
        }
        switch (type) {
            case Ethernet.TYPE_IPV4 -> ipv4(text, s, at, end);
            case Ethernet.TYPE_IPV6 -> ipv6(text, s, at, end);
            case Ethernet.TYPE_ROCE_V1 -> roceV1(text, s, at, end);
            default ->
                text.add(Ethernet.format(Ethernet.source(s, offset)))
                        .add(" > ")
                        .add(Ethernet.format(Ethernet.destination(s, offset)))
                        .add(" type ")
                        .hex(type, 4)
                        .add(" bytes ")
                        .add(bytes);
        }
        return text.toString();
    }

    /** The UDP payload of a RoCE v2 packet: BTH to ICRC, which is not verified. */
    public String udpPayload(MemorySegment s, long offset, long bytes) {
        Text text = new Text();
        if (!inside(s, offset, bytes)) {
            return text.add("no such bytes").toString();
        }
        transport(text, s, offset, offset + bytes);
        return text.toString();
    }

    private static boolean inside(MemorySegment s, long offset, long bytes) {
        return offset >= 0 && bytes >= 0 && offset <= s.byteSize() - bytes;
    }

    private void ipv4(Text text, MemorySegment s, long ip, long end) {
        if (end - ip < Ipv4.BYTES) {
            text.truncated("IPv4", end - ip);
            return;
        }
        int header = Ipv4.headerBytes(s, ip);
        int total = Ipv4.totalLength(s, ip);
        text.add(Ipv4.format(Ipv4.source(s, ip)))
                .add(" > ")
                .add(Ipv4.format(Ipv4.destination(s, ip)))
                .add(' ');
        if (Ipv4.version(s, ip) != 4 || header < Ipv4.BYTES || total < header) {
            text.add("malformed IPv4 header");
        } else if (total > end - ip) {
            text.add("truncated IPv4: ").add(end - ip).add(" of ").add(total).add(" bytes");
        } else if (Ipv4.protocol(s, ip) != Ipv4.PROTOCOL_UDP || Ipv4.isFragment(s, ip)) {
            text.add(Ipv4.isFragment(s, ip) ? "fragment, " : "")
                    .add("protocol ")
                    .add(Ipv4.protocol(s, ip));
            text.add(" bytes ").add(total);
        } else {
            udp(text, s, ip, header, total);
        }
    }

    private void ipv6(Text text, MemorySegment s, long ip, long end) {
        if (end - ip < Ipv6.BYTES) {
            text.truncated("IPv6", end - ip);
            return;
        }
        int total = Ipv6.BYTES + Ipv6.payloadLength(s, ip);
        addresses(text, s, ip);
        if (Ipv6.version(s, ip) != 6) {
            text.add("malformed IPv6 header");
        } else if (total > end - ip) {
            text.add("truncated IPv6: ").add(end - ip).add(" of ").add(total).add(" bytes");
        } else if (Ipv6.nextHeader(s, ip) != Ipv4.PROTOCOL_UDP) {
            text.add("protocol ").add(Ipv6.nextHeader(s, ip)).add(" bytes ").add(total);
        } else {
            udp(text, s, ip, Ipv6.BYTES, total);
        }
    }

    private static void addresses(Text text, MemorySegment s, long ip) {
        text.add(Ipv6.format(Ipv6.sourceHigh(s, ip), Ipv6.sourceLow(s, ip)))
                .add(" > ")
                .add(Ipv6.format(Ipv6.destinationHigh(s, ip), Ipv6.destinationLow(s, ip)))
                .add(' ');
    }

    private void udp(Text text, MemorySegment s, long ip, int ipHeader, int total) {
        long udp = ip + ipHeader;
        if (total - ipHeader < Udp.BYTES) {
            text.truncated("UDP", total - ipHeader);
            return;
        }
        int length = Udp.length(s, udp);
        if (length < Udp.BYTES || length > total - ipHeader) {
            text.add("malformed UDP header");
            return;
        }
        if (Udp.destinationPort(s, udp) != Udp.PORT_ROCE_V2) {
            text.add("UDP ").add(Udp.sourcePort(s, udp)).add(" > ").add(Udp.destinationPort(s, udp));
            text.add(" bytes ").add(length - Udp.BYTES);
            return;
        }
        boolean whole = transport(text, s, udp + Udp.BYTES, udp + length);
        if (whole && !icrc.verifyEthernet(s, ip, ipHeader + length)) {
            text.add(" ICRC WRONG");
        }
    }

    private void roceV1(Text text, MemorySegment s, long grh, long end) {
        if (end - grh < Grh.BYTES) {
            text.truncated("GRH", end - grh);
            return;
        }
        int total = Grh.BYTES + Grh.payloadLength(s, grh);
        text.add("RoCE v1 ");
        addresses(text, s, grh);
        if (total > end - grh) {
            text.add("truncated GRH: ").add(end - grh).add(" of ").add(total).add(" bytes");
        } else if (Grh.version(s, grh) != 6 || Grh.nextHeader(s, grh) != Grh.NEXT_HEADER_BTH) {
            text.add("malformed GRH");
        } else if (transport(text, s, grh + Grh.BYTES, grh + total) && !icrc.verifyRocev1(s, grh, total)) {
            text.add(" ICRC WRONG");
        }
    }

    /** From the BTH to behind the ICRC. Returns whether there is room for a BTH and an ICRC. */
    private static boolean transport(Text text, MemorySegment s, long bth, long end) {
        long bytes = end - bth - Icrc.BYTES;
        if (bytes < Bth.BYTES) {
            text.truncated("BTH", end - bth);
            return false;
        }
        int code = Bth.opcode(s, bth);
        Opcode opcode = Opcode.of(code);
        if (opcode == null) {
            text.add("opcode ").hex(code, 2);
        } else {
            text.add(opcode.name());
        }
        text.add(" qp ").hex(Bth.destinationQp(s, bth), 6).add(" psn ").hex(Bth.psn(s, bth), 6);
        text.flag(Bth.ackRequest(s, bth), "ack-request").flag(Bth.solicited(s, bth), "solicited");
        text.flag(Bth.fecn(s, bth), "fecn").flag(Bth.becn(s, bth), "becn");
        text.flag(Bth.version(s, bth) != 0, "bad-version");
        if (opcode == null) {
            text.add(" bytes ").add(bytes);
        } else if (bytes < opcode.headerBytes()) {
            text.add(" truncated: ")
                    .add(bytes)
                    .add(" of ")
                    .add(opcode.headerBytes())
                    .add(" header bytes");
        } else {
            extended(text, s, bth, opcode);
            payload(text, s, bth, opcode, bytes);
        }
        return true;
    }

    private static void extended(Text text, MemorySegment s, long bth, Opcode opcode) {
        if (opcode.hasXrcEth()) {
            text.add(' ').add(XrcEth.Fields.read(s, bth + opcode.xrcEthOffset()));
        }
        if (opcode.hasDeth()) {
            text.add(' ').add(Deth.Fields.read(s, bth + opcode.dethOffset()));
        }
        if (opcode.hasFlushEth()) {
            text.add(' ').add(FlushEth.Fields.read(s, bth + opcode.flushEthOffset()));
        }
        if (opcode.hasReth()) {
            text.add(' ').add(Reth.Fields.read(s, bth + opcode.rethOffset()));
        }
        if (opcode.hasAtomicEth()) {
            text.add(' ').add(AtomicEth.Fields.read(s, bth + opcode.atomicEthOffset()));
        }
        if (opcode.hasAeth()) {
            text.add(' ').add(Aeth.Fields.read(s, bth + opcode.aethOffset()));
        }
        if (opcode.hasAtomicAckEth()) {
            text.add(' ').add(AtomicAckEth.Fields.read(s, bth + opcode.atomicAckEthOffset()));
        }
        if (opcode.hasImmediate()) {
            text.add(' ').add(ImmDt.Fields.read(s, bth + opcode.immediateOffset()));
        }
        if (opcode.hasIeth()) {
            text.add(' ').add(Ieth.Fields.read(s, bth + opcode.iethOffset()));
        }
    }

    private static void payload(Text text, MemorySegment s, long bth, Opcode opcode, long bytes) {
        long payload = bytes - opcode.headerBytes() - Bth.padCount(s, bth);
        if (payload < 0) {
            text.add(" malformed: pad ").add(Bth.padCount(s, bth)).add(" exceeds the packet");
            return;
        }
        if (opcode.hasPayload() || payload > 0) {
            text.add(" payload ").add(payload);
        }
        boolean mad = opcode == Opcode.UD_SEND_ONLY && Bth.destinationQp(s, bth) == Mad.QUEUE_PAIR;
        if (mad && payload >= Mad.BYTES) {
            mad(text, s, bth + opcode.headerBytes());
        }
    }

    private static void mad(Text text, MemorySegment s, long mad) {
        CmAttribute attribute = CmAttribute.of(Mad.attribute(s, mad));
        if (attribute == null || !Mad.isConnectionManagement(s, mad)) {
            text.add(' ').add(Mad.Fields.read(s, mad));
            return;
        }
        text.add(" CM ").add(connectionMessage(s, mad, attribute));
        int privateData = switch (attribute) {
            case REQ -> Req.PRIVATE_DATA;
            case SIDR_REQ -> SidrReq.PRIVATE_DATA;
            default -> 0;
        };
        if (privateData != 0 && IpCm.isPlausible(s, mad + privateData)) {
            text.add(' ').add(IpCm.Fields.read(s, mad + privateData));
        }
    }

    private static Object connectionMessage(MemorySegment s, long mad, CmAttribute attribute) {
        return switch (attribute) {
            case REQ -> Req.Fields.read(s, mad);
            case MRA -> Mra.Fields.read(s, mad);
            case REJ -> Rej.Fields.read(s, mad);
            case REP -> Rep.Fields.read(s, mad);
            case RTU -> Rtu.Fields.read(s, mad);
            case DREQ -> Dreq.Fields.read(s, mad);
            case DREP -> Drep.Fields.read(s, mad);
            case SIDR_REQ -> SidrReq.Fields.read(s, mad);
            case SIDR_REP -> SidrRep.Fields.read(s, mad);
            case LAP, APR -> attribute;
        };
    }

    /** A StringBuilder that knows hexadecimal and flags. */
    private static final class Text {
        private final StringBuilder out = new StringBuilder(160);

        Text add(Object value) {
            out.append(value);
            return this;
        }

        Text add(long value) {
            out.append(value);
            return this;
        }

        Text add(char value) {
            out.append(value);
            return this;
        }

        Text hex(int value, int digits) {
            for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
                out.append(Character.forDigit(value >>> shift & 0xf, 16));
            }
            return this;
        }

        Text flag(boolean set, String name) {
            if (set) {
                out.append(' ').append(name);
            }
            return this;
        }

        Text truncated(String header, long bytes) {
            out.append("truncated ").append(header).append(": ").append(bytes).append(" bytes");
            return this;
        }

        @Override
        public String toString() {
            return out.toString();
        }
    }
}
