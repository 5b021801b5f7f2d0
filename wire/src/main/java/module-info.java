/** Bytes and fields: protocol headers, checksums, opcode tables, pcapng. No state, no I/O. */
module verbena.wire {
    requires static org.jspecify;

    exports io.verbena.wire;
    exports io.verbena.wire.cm;
    exports io.verbena.wire.ib;
    exports io.verbena.wire.net;
    exports io.verbena.wire.pcap;
    exports io.verbena.wire.dissect;
}
