/** Frames and what they are made of. */
@org.jspecify.annotations.NullMarked
package io.verbena.wire;
