/**
 * InfiniBand transport headers (IBTA vol 1 ch. 9.2 and 9.3), the opcode table that says which packet has which, and the
 * invariant CRC.
 *
 * <p>A header class reads and writes its fields in place over (segment, offset); the caller has checked that the bytes
 * are there, once per packet, with {@link io.verbena.wire.ib.Opcode#headerBytes()}. The nested {@code Fields} records
 * are for tests, tools and cold paths.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.wire.ib;
