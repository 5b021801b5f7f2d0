// SPDX-License-Identifier: Apache-2.0
/** {@code verbena simulate}: the deterministic simulator as a tool. */
@NullMarked
package io.verbena.tools.simulate;

import org.jspecify.annotations.NullMarked;
