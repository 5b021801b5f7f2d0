/**
 * Links carry {@link io.verbena.wire.Frame frames} between this process and the network. Decorators are links too, so
 * any program can run captured or with faults without knowing it.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.link;
