// SPDX-License-Identifier: Apache-2.0
/**
 * The InfiniBand connection manager as a pure state machine over management datagrams (IBTA volume 1, chapter 12).
 *
 * <p>{@link io.verbena.transport.cm.ConnectionManager} is the surface: commands of a consumer, datagrams and time go
 * in, datagrams and {@link io.verbena.transport.cm.CmEvents} come out. Everything belongs to the port's owner.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.transport.cm;
