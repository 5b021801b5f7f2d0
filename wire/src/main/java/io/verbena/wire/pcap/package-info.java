/** Capture files: written as pcapng, read as pcapng or classic pcap. Cold paths; a reader trusts nothing in a file. */
@org.jspecify.annotations.NullMarked
package io.verbena.wire.pcap;
