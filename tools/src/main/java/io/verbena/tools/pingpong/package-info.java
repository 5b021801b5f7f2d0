// SPDX-License-Identifier: Apache-2.0
/** The counterpart of ibv_rc_pingpong. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.pingpong;
