// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

/** The outcome of checking a key, a range and a right against the key table (IBTA volume 1, 10.6.3). */
public enum AccessVerdict {
    OK,
    NO_SUCH_KEY,
    WRONG_PROTECTION_DOMAIN,
    MISSING_RIGHT,
    OUT_OF_RANGE
}
