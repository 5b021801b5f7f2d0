// SPDX-License-Identifier: Apache-2.0
/**
 * RDMA verbs. A program opens a {@link io.verbena.verbs.DeviceContext}, allocates a
 * {@link io.verbena.verbs.ProtectionDomain}, registers memory, creates a {@link io.verbena.verbs.CompletionQueue} and
 * {@link io.verbena.verbs.QueuePair}s, connects them, posts work and polls completions. The device's name decides which
 * provider carries it out; nothing else changes.
 *
 * <p><b>Errors are of four kinds.</b> Misuse that a careful reading of the documentation would have avoided (null,
 * negative length, a heap segment) throws {@link IllegalArgumentException} or {@link IllegalStateException}. A verbs
 * call that fails throws {@link io.verbena.verbs.RdmaException} with a reason. Work that fails is a
 * {@link io.verbena.verbs.WorkCompletion} with a status. A bad packet is a counter in
 * {@link io.verbena.verbs.DeviceContext#counters()}.
 *
 * <p><b>Threads.</b> All objects may be used from any thread. Posting to one queue pair from several threads is
 * serialised; polling one completion queue from several threads is too. {@code close} is idempotent and safe at any
 * time.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.verbs;
