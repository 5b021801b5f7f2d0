// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.net.InetAddress;

/** An address of this host and what is known of its interface; {@code mtu} is the IP MTU in bytes. */
public record LocalAddress(InetAddress address, String interfaceName, int mtu, boolean loopback, boolean up) {}
