// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

/** How much a program may rely on a behaviour. */
public enum Level {
    /** Every provider does it. */
    MUST("M"),
    /** Every provider does it where the device can; it says so when it cannot. */
    SHOULD("S"),
    /** Mostly hardware offloads; a clean "not supported" is an answer. */
    OPTIONAL("O");

    private final String letter;

    Level(String letter) {
        this.letter = letter;
    }

    /** M, S or O. */
    public String letter() {
        return letter;
    }

    static Level of(String letter) {
        for (Level level : values()) {
            if (level.letter.equals(letter)) {
                return level;
            }
        }
        throw new IllegalArgumentException("not a level: " + letter);
    }
}
