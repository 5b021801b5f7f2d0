// SPDX-License-Identifier: Apache-2.0
/** The TCP connection over which two programs tell each other about their queue pairs. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.sideband;
