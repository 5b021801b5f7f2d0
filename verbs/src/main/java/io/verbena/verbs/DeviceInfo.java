// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A device that can be opened by its name.
 *
 * @param name what {@link Devices#open(String)} takes, such as {@code rocev2:127.0.0.1}
 * @param provider the provider's name, such as {@code soft}
 * @param wire what it speaks, such as {@code RoCE v2}
 * @param networkInterface the network interface behind it, such as {@code lo}
 */
public record DeviceInfo(String name, String provider, String wire, String networkInterface) {}
