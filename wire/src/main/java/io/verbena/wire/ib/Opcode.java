// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import org.jspecify.annotations.Nullable;

/**
 * What the first byte of a BTH means (IBTA vol 1 ch. 9.2.1): service, operation, position in its message and the
 * headers that follow. A row lists its headers in the order of the wire; lengths and offsets are computed from that
 * list.
 *
 * <p>RD (0x40 to 0x5f) is left out: no device implements it.
 */
public enum Opcode {
    RC_SEND_FIRST(0x00, Service.RC, Operation.SEND, Position.FIRST),
    RC_SEND_MIDDLE(0x01, Service.RC, Operation.SEND, Position.MIDDLE),
    RC_SEND_LAST(0x02, Service.RC, Operation.SEND, Position.LAST),
    RC_SEND_LAST_IMM(0x03, Service.RC, Operation.SEND, Position.LAST, Header.IMM_DT),
    RC_SEND_ONLY(0x04, Service.RC, Operation.SEND, Position.ONLY),
    RC_SEND_ONLY_IMM(0x05, Service.RC, Operation.SEND, Position.ONLY, Header.IMM_DT),
    RC_WRITE_FIRST(0x06, Service.RC, Operation.WRITE, Position.FIRST, Header.RETH),
    RC_WRITE_MIDDLE(0x07, Service.RC, Operation.WRITE, Position.MIDDLE),
    RC_WRITE_LAST(0x08, Service.RC, Operation.WRITE, Position.LAST),
    RC_WRITE_LAST_IMM(0x09, Service.RC, Operation.WRITE, Position.LAST, Header.IMM_DT),
    RC_WRITE_ONLY(0x0a, Service.RC, Operation.WRITE, Position.ONLY, Header.RETH),
    RC_WRITE_ONLY_IMM(0x0b, Service.RC, Operation.WRITE, Position.ONLY, Header.RETH, Header.IMM_DT),
    RC_READ_REQUEST(0x0c, Service.RC, Operation.READ_REQUEST, Position.ONLY, Header.RETH),
    RC_READ_RESPONSE_FIRST(0x0d, Service.RC, Operation.READ_RESPONSE, Position.FIRST, Header.AETH),
    RC_READ_RESPONSE_MIDDLE(0x0e, Service.RC, Operation.READ_RESPONSE, Position.MIDDLE),
    RC_READ_RESPONSE_LAST(0x0f, Service.RC, Operation.READ_RESPONSE, Position.LAST, Header.AETH),
    RC_READ_RESPONSE_ONLY(0x10, Service.RC, Operation.READ_RESPONSE, Position.ONLY, Header.AETH),
    RC_ACKNOWLEDGE(0x11, Service.RC, Operation.ACKNOWLEDGE, Position.ONLY, Header.AETH),
    RC_ATOMIC_ACKNOWLEDGE(
            0x12, Service.RC, Operation.ATOMIC_ACKNOWLEDGE, Position.ONLY, Header.AETH, Header.ATOMIC_ACK_ETH),
    RC_COMPARE_SWAP(0x13, Service.RC, Operation.COMPARE_SWAP, Position.ONLY, Header.ATOMIC_ETH),
    RC_FETCH_ADD(0x14, Service.RC, Operation.FETCH_ADD, Position.ONLY, Header.ATOMIC_ETH),
    RC_SEND_LAST_INV(0x16, Service.RC, Operation.SEND, Position.LAST, Header.IETH),
    RC_SEND_ONLY_INV(0x17, Service.RC, Operation.SEND, Position.ONLY, Header.IETH),
    // IBTA vol 1 release 1.5, annex A19 (memory placement extensions).
    RC_FLUSH(0x1c, Service.RC, Operation.FLUSH, Position.ONLY, Header.FLUSH_ETH, Header.RETH),
    RC_ATOMIC_WRITE(0x1d, Service.RC, Operation.ATOMIC_WRITE, Position.ONLY, Header.RETH),

    UC_SEND_FIRST(0x20, Service.UC, Operation.SEND, Position.FIRST),
    UC_SEND_MIDDLE(0x21, Service.UC, Operation.SEND, Position.MIDDLE),
    UC_SEND_LAST(0x22, Service.UC, Operation.SEND, Position.LAST),
    UC_SEND_LAST_IMM(0x23, Service.UC, Operation.SEND, Position.LAST, Header.IMM_DT),
    UC_SEND_ONLY(0x24, Service.UC, Operation.SEND, Position.ONLY),
    UC_SEND_ONLY_IMM(0x25, Service.UC, Operation.SEND, Position.ONLY, Header.IMM_DT),
    UC_WRITE_FIRST(0x26, Service.UC, Operation.WRITE, Position.FIRST, Header.RETH),
    UC_WRITE_MIDDLE(0x27, Service.UC, Operation.WRITE, Position.MIDDLE),
    UC_WRITE_LAST(0x28, Service.UC, Operation.WRITE, Position.LAST),
    UC_WRITE_LAST_IMM(0x29, Service.UC, Operation.WRITE, Position.LAST, Header.IMM_DT),
    UC_WRITE_ONLY(0x2a, Service.UC, Operation.WRITE, Position.ONLY, Header.RETH),
    UC_WRITE_ONLY_IMM(0x2b, Service.UC, Operation.WRITE, Position.ONLY, Header.RETH, Header.IMM_DT),

    UD_SEND_ONLY(0x64, Service.UD, Operation.SEND, Position.ONLY, Header.DETH),
    UD_SEND_ONLY_IMM(0x65, Service.UD, Operation.SEND, Position.ONLY, Header.DETH, Header.IMM_DT),

    /** Congestion notification (IBTA vol 1 annex A17.9.3): 16 reserved bytes follow the BTH. */
    CNP(0x81, Service.CNP, Operation.CNP, Position.ONLY, Header.CNP_RESERVED),

    // IBTA vol 1 annex A14: the opcodes of RC, and an XRCETH in every request.
    XRC_SEND_FIRST(0xa0, Service.XRC, Operation.SEND, Position.FIRST, Header.XRC_ETH),
    XRC_SEND_MIDDLE(0xa1, Service.XRC, Operation.SEND, Position.MIDDLE, Header.XRC_ETH),
    XRC_SEND_LAST(0xa2, Service.XRC, Operation.SEND, Position.LAST, Header.XRC_ETH),
    XRC_SEND_LAST_IMM(0xa3, Service.XRC, Operation.SEND, Position.LAST, Header.XRC_ETH, Header.IMM_DT),
    XRC_SEND_ONLY(0xa4, Service.XRC, Operation.SEND, Position.ONLY, Header.XRC_ETH),
    XRC_SEND_ONLY_IMM(0xa5, Service.XRC, Operation.SEND, Position.ONLY, Header.XRC_ETH, Header.IMM_DT),
    XRC_WRITE_FIRST(0xa6, Service.XRC, Operation.WRITE, Position.FIRST, Header.XRC_ETH, Header.RETH),
    XRC_WRITE_MIDDLE(0xa7, Service.XRC, Operation.WRITE, Position.MIDDLE, Header.XRC_ETH),
    XRC_WRITE_LAST(0xa8, Service.XRC, Operation.WRITE, Position.LAST, Header.XRC_ETH),
    XRC_WRITE_LAST_IMM(0xa9, Service.XRC, Operation.WRITE, Position.LAST, Header.XRC_ETH, Header.IMM_DT),
    XRC_WRITE_ONLY(0xaa, Service.XRC, Operation.WRITE, Position.ONLY, Header.XRC_ETH, Header.RETH),
    XRC_WRITE_ONLY_IMM(0xab, Service.XRC, Operation.WRITE, Position.ONLY, Header.XRC_ETH, Header.RETH, Header.IMM_DT),
    XRC_READ_REQUEST(0xac, Service.XRC, Operation.READ_REQUEST, Position.ONLY, Header.XRC_ETH, Header.RETH),
    XRC_READ_RESPONSE_FIRST(0xad, Service.XRC, Operation.READ_RESPONSE, Position.FIRST, Header.AETH),
    XRC_READ_RESPONSE_MIDDLE(0xae, Service.XRC, Operation.READ_RESPONSE, Position.MIDDLE),
    XRC_READ_RESPONSE_LAST(0xaf, Service.XRC, Operation.READ_RESPONSE, Position.LAST, Header.AETH),
    XRC_READ_RESPONSE_ONLY(0xb0, Service.XRC, Operation.READ_RESPONSE, Position.ONLY, Header.AETH),
    XRC_ACKNOWLEDGE(0xb1, Service.XRC, Operation.ACKNOWLEDGE, Position.ONLY, Header.AETH),
    XRC_ATOMIC_ACKNOWLEDGE(
            0xb2, Service.XRC, Operation.ATOMIC_ACKNOWLEDGE, Position.ONLY, Header.AETH, Header.ATOMIC_ACK_ETH),
    XRC_COMPARE_SWAP(0xb3, Service.XRC, Operation.COMPARE_SWAP, Position.ONLY, Header.XRC_ETH, Header.ATOMIC_ETH),
    XRC_FETCH_ADD(0xb4, Service.XRC, Operation.FETCH_ADD, Position.ONLY, Header.XRC_ETH, Header.ATOMIC_ETH),
    XRC_SEND_LAST_INV(0xb6, Service.XRC, Operation.SEND, Position.LAST, Header.XRC_ETH, Header.IETH),
    XRC_SEND_ONLY_INV(0xb7, Service.XRC, Operation.SEND, Position.ONLY, Header.XRC_ETH, Header.IETH);

    /** Transport service: the upper three bits of the opcode; CNP has a value of its own. */
    public enum Service {
        RC,
        UC,
        RD,
        UD,
        XRC,
        CNP
    }

    /** What a packet asks for or answers. */
    public enum Operation {
        SEND,
        WRITE,
        READ_REQUEST,
        READ_RESPONSE,
        ACKNOWLEDGE,
        ATOMIC_ACKNOWLEDGE,
        COMPARE_SWAP,
        FETCH_ADD,
        FLUSH,
        ATOMIC_WRITE,
        CNP;

        boolean response() {
            return this == READ_RESPONSE || this == ACKNOWLEDGE || this == ATOMIC_ACKNOWLEDGE;
        }

        boolean payload() {
            return this == SEND || this == WRITE || this == READ_RESPONSE || this == ATOMIC_WRITE;
        }
    }

    /** Which packet of its message. */
    public enum Position {
        FIRST,
        MIDDLE,
        LAST,
        ONLY
    }

    /** Extended transport headers, in the order in which they follow the BTH (IBTA vol 1 ch. 9.3). */
    enum Header {
        XRC_ETH(XrcEth.BYTES),
        DETH(Deth.BYTES),
        FLUSH_ETH(FlushEth.BYTES),
        RETH(Reth.BYTES),
        ATOMIC_ETH(AtomicEth.BYTES),
        AETH(Aeth.BYTES),
        ATOMIC_ACK_ETH(AtomicAckEth.BYTES),
        IMM_DT(ImmDt.BYTES),
        IETH(Ieth.BYTES),
        CNP_RESERVED(16);

        final int bytes;

        Header(int bytes) {
            this.bytes = bytes;
        }
    }

    private static final @Nullable Opcode[] BY_CODE = new @Nullable Opcode[256];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    private final int code;
    private final Service service;
    private final Operation operation;
    private final Position position;
    private final int headerBytes;
    private final int xrcEthOffset;
    private final int dethOffset;
    private final int flushEthOffset;
    private final int rethOffset;
    private final int atomicEthOffset;
    private final int aethOffset;
    private final int atomicAckEthOffset;
    private final int immediateOffset;
    private final int iethOffset;

    Opcode(int code, Service service, Operation operation, Position position, Header... headers) {
        this.code = code;
        this.service = service;
        this.operation = operation;
        this.position = position;
        headerBytes = offsetOf(headers, null);
        xrcEthOffset = offsetOf(headers, Header.XRC_ETH);
        dethOffset = offsetOf(headers, Header.DETH);
        flushEthOffset = offsetOf(headers, Header.FLUSH_ETH);
        rethOffset = offsetOf(headers, Header.RETH);
        atomicEthOffset = offsetOf(headers, Header.ATOMIC_ETH);
        aethOffset = offsetOf(headers, Header.AETH);
        atomicAckEthOffset = offsetOf(headers, Header.ATOMIC_ACK_ETH);
        immediateOffset = offsetOf(headers, Header.IMM_DT);
        iethOffset = offsetOf(headers, Header.IETH);
    }

    /** Offset of {@code wanted} behind the BTH, -1 if the row has none; with null, where the payload starts. */
    private static int offsetOf(Header[] headers, @Nullable Header wanted) {
        int offset = Bth.BYTES;
        for (Header header : headers) {
            if (header == wanted) {
                return offset;
            }
            offset += header.bytes;
        }
        return wanted == null ? offset : -1;
    }

    /** The opcode of a BTH byte, or null for one that is reserved, unknown or RD. */
    public static @Nullable Opcode of(int code) {
        return BY_CODE[code & 0xff];
    }

    /** The byte on the wire, 0 to 255. */
    public int code() {
        return code;
    }

    public Service service() {
        return service;
    }

    public Operation operation() {
        return operation;
    }

    public Position position() {
        return position;
    }

    /** Whether this packet opens a message. */
    public boolean starts() {
        return position == Position.FIRST || position == Position.ONLY;
    }

    /** Whether this packet closes a message. */
    public boolean ends() {
        return position == Position.LAST || position == Position.ONLY;
    }

    public boolean isResponse() {
        return operation.response();
    }

    public boolean isRequest() {
        return !operation.response() && operation != Operation.CNP;
    }

    /** Whether bytes of a message may follow the headers. */
    public boolean hasPayload() {
        return operation.payload();
    }

    public boolean hasXrcEth() {
        return xrcEthOffset >= 0;
    }

    public boolean hasDeth() {
        return dethOffset >= 0;
    }

    public boolean hasFlushEth() {
        return flushEthOffset >= 0;
    }

    public boolean hasReth() {
        return rethOffset >= 0;
    }

    public boolean hasAtomicEth() {
        return atomicEthOffset >= 0;
    }

    public boolean hasAeth() {
        return aethOffset >= 0;
    }

    public boolean hasAtomicAckEth() {
        return atomicAckEthOffset >= 0;
    }

    public boolean hasImmediate() {
        return immediateOffset >= 0;
    }

    public boolean hasIeth() {
        return iethOffset >= 0;
    }

    /** BTH and all extended headers: where the payload starts, relative to the BTH. */
    public int headerBytes() {
        return headerBytes;
    }

    /** Relative to the BTH, -1 if absent; so are all the offsets below. */
    public int xrcEthOffset() {
        return xrcEthOffset;
    }

    public int dethOffset() {
        return dethOffset;
    }

    public int flushEthOffset() {
        return flushEthOffset;
    }

    public int rethOffset() {
        return rethOffset;
    }

    public int atomicEthOffset() {
        return atomicEthOffset;
    }

    public int aethOffset() {
        return aethOffset;
    }

    public int atomicAckEthOffset() {
        return atomicAckEthOffset;
    }

    public int immediateOffset() {
        return immediateOffset;
    }

    public int iethOffset() {
        return iethOffset;
    }
}
