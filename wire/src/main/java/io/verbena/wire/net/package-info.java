/**
 * The headers below the transport on Ethernet: Ethernet II, IPv4, IPv6, UDP. In the style of
 * {@code io.verbena.wire.ib}.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.wire.net;
