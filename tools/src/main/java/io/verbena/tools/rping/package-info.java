// SPDX-License-Identifier: Apache-2.0
/** {@code verbena rping}, the counterpart of librdmacm's rping. */
@NullMarked
package io.verbena.tools.rping;

import org.jspecify.annotations.NullMarked;
