// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.net.Inet6Address;
import java.net.InetAddress;

/** Addresses as people write them: IPv6 in its short form (RFC 5952), with a scope only where one is needed. */
final class AddressText {
    private static final int GROUPS = 8;

    private AddressText() {}

    static String of(InetAddress address) {
        if (!(address instanceof Inet6Address six)) {
            return address.getHostAddress();
        }
        String full = six.getHostAddress();
        int scope = full.indexOf('%');
        String suffix = scope >= 0 && six.isLinkLocalAddress() ? full.substring(scope) : "";
        return shortest(six.getAddress()) + suffix;
    }

    /** Replaces the longest run of two or more zero groups, the first of equals. */
    private static String shortest(byte[] bytes) {
        int[] groups = new int[GROUPS];
        for (int i = 0; i < GROUPS; i++) {
            groups[i] = (bytes[2 * i] & 0xff) << 8 | (bytes[2 * i + 1] & 0xff);
        }
        int bestStart = -1;
        int bestLength = 1;
        for (int start = 0; start < GROUPS; start++) {
            int end = start;
            while (end < GROUPS && groups[end] == 0) {
                end++;
            }
            if (end - start > bestLength) {
                bestStart = start;
                bestLength = end - start;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < GROUPS; i++) {
            if (i == bestStart) {
                text.append("::");
                i += bestLength - 1;
                continue;
            }
            if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
                text.append(':');
            }
            text.append(Integer.toHexString(groups[i]));
        }
        return text.toString();
    }
}
