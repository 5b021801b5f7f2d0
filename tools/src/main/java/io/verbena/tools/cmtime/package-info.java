// SPDX-License-Identifier: Apache-2.0
/** {@code verbena cmtime}, the counterpart of librdmacm's cmtime. */
@NullMarked
package io.verbena.tools.cmtime;

import org.jspecify.annotations.NullMarked;
