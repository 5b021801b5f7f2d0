// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

/**
 * A line of the catalogue.
 *
 * @param id such as {@code RC-2}
 * @param area the heading that it stands under
 * @param note why no provider is held to it yet; empty when they are
 */
public record Behaviour(String id, Level level, String area, String text, String note) {
    /** Whether some test must try it. */
    public boolean isHeldTo() {
        return note.isEmpty() && level != Level.OPTIONAL;
    }
}
