// SPDX-License-Identifier: Apache-2.0
/**
 * The InfiniBand transport over any encapsulation: port, reliable connection, PSNs, timers (IBTA volume 1, chapter 9).
 */
@org.jspecify.annotations.NullMarked
package io.verbena.transport.ib;
