// SPDX-License-Identifier: Apache-2.0
/** Lists devices, and chooses one for a peer. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.devices;
