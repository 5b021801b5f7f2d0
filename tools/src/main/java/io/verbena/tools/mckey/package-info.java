// SPDX-License-Identifier: Apache-2.0
/** The counterpart of librdmacm's mckey: datagrams to all that hear a multicast group. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.mckey;
