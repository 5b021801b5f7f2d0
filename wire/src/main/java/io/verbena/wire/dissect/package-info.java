/** Packets as text, for people. */
@org.jspecify.annotations.NullMarked
package io.verbena.wire.dissect;
