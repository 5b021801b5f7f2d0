/**
 * System calls in two floors: classes whose methods are named after man pages and return what those say
 * ({@link io.verbena.ffi.LinuxSockets}), and small flyweights over the C structs they take.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.ffi;
