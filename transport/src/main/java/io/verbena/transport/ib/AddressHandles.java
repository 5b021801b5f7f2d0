// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.encap.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The resolved destinations of datagrams, by number. A number holds a generation too, so that a send that names a
 * destroyed handle finds nothing. Belongs to the port's owner.
 */
public final class AddressHandles {
    private static final int INDEX_BITS = 20;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    /** How many handles there can be. */
    public static final int MAX = 1 << 16;

    private record Entry(
            int number, int protectionDomain, @Nullable Path path) {}

    private final List<Entry> entries = new ArrayList<>();
    private final ArrayDeque<Integer> free = new ArrayDeque<>();

    AddressHandles() {}

    /** Adds a destination; returns its number, or -1 when there are {@link #MAX}. */
    public int add(Path path, int protectionDomain) {
        Integer index = free.pollFirst();
        if (index == null) {
            if (entries.size() == MAX) {
                return -1;
            }
            index = entries.size();
            entries.add(new Entry(index, protectionDomain, path));
            return index;
        }
        int generation = (entries.get(index).number() >>> INDEX_BITS) + 1;
        int number = (generation << INDEX_BITS | index) & Integer.MAX_VALUE;
        entries.set(index, new Entry(number, protectionDomain, path));
        return number;
    }

    public void remove(int number) {
        int index = number & INDEX_MASK;
        entries.set(index, new Entry(number, 0, null));
        free.addLast(index);
    }

    /** The way of a handle of the protection domain, or null. */
    @Nullable
    Path find(int number, int protectionDomain) {
        int index = number & INDEX_MASK;
        Entry entry = index < entries.size() ? entries.get(index) : null;
        return entry != null && entry.number() == number && entry.protectionDomain() == protectionDomain
                ? entry.path()
                : null;
    }
}
