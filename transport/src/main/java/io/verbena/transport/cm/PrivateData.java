// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/** What consumers tell each other within the messages that connect them. */
final class PrivateData {
    static final byte[] NONE = {};

    private PrivateData() {}

    static void check(String message, byte[] data, int most) {
        if (data.length > most) {
            throw new IllegalArgumentException(
                    "a " + message + " has room for " + most + " bytes of private data, not " + data.length);
        }
    }
}
