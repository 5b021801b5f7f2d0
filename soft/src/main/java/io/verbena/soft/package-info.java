// SPDX-License-Identifier: Apache-2.0
/**
 * Software devices. {@link io.verbena.soft.PortAgent} runs the duty cycle of a port; the other classes are thin handles
 * over the engine below. Programs use {@link io.verbena.verbs.Devices} and never name this package.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.soft;
