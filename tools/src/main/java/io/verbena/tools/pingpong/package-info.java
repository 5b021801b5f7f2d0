// SPDX-License-Identifier: Apache-2.0
/** The counterpart of ibv_rc_pingpong and its kin for other services. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.pingpong;
