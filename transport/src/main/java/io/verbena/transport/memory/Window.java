// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryWindowType;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A memory window: a key of its own for a stretch of a region, with rights of its own (IBTA volume 1, 10.6.7.2). Type 2
 * is 2B: it serves the queue pair that bound it only. That one is the object, not its number, so that one that gets the
 * number later is not served. {@link KeyTable} binds and invalidates it.
 */
public final class Window extends Region {
    private static final int CHANGES = AccessFlag.mask(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
    private static final int FLUSHES = AccessFlag.mask(AccessFlag.FLUSH_GLOBAL, AccessFlag.FLUSH_PERSISTENT);
    private static final int POSSIBLE = CHANGES | FLUSHES | AccessFlag.REMOTE_READ.code();

    private final MemoryWindowType type;
    private @Nullable Region target;
    private @Nullable Object queuePair;

    public Window(MemoryWindowType type, int protectionDomain) {
        super(MemorySegment.NULL, 0, protectionDomain);
        this.type = type;
    }

    @Override
    public boolean serves(Object asking) {
        return type == MemoryWindowType.TYPE_1 || asking.equals(queuePair);
    }

    /**
     * Whether a bind is allowed (C10-72 to C10-75, o10-37.2.30, o10-37.2.40).
     *
     * @param region null for a key that names none
     */
    boolean mayBind(@Nullable Region region, long at, long bytes, int rights, int domain) {
        if (domain != protectionDomain() || (type == MemoryWindowType.TYPE_2 && target != null)) {
            return false;
        }
        if (bytes == 0) {
            return type == MemoryWindowType.TYPE_1;
        }
        if (region == null || region.protectionDomain() != domain || !region.contains(at, bytes)) {
            return false;
        }
        int needed = AccessFlag.MEMORY_WINDOW_BIND.code() | (rights & FLUSHES);
        if ((rights & CHANGES) != 0) {
            needed |= AccessFlag.LOCAL_WRITE.code();
        }
        return (rights & ~POSSIBLE) == 0 && (region.access() & needed) == needed;
    }

    void bind(@Nullable Region region, long at, long bytes, int rights, Object binder) {
        unbind();
        if (region != null && bytes > 0) {
            region.windowsChanged(1);
            target = region;
            queuePair = binder;
            view(region, at, bytes, rights);
        }
    }

    /** Whether work of this queue pair may invalidate it: type 2, and nobody else's (o10-37.2.26). */
    boolean mayInvalidate(int domain, Object asking) {
        return type == MemoryWindowType.TYPE_2
                && domain == protectionDomain()
                && (target == null || asking.equals(queuePair));
    }

    void unbind() {
        if (target != null) {
            target.windowsChanged(-1);
            target = null;
            queuePair = null;
            viewNothing();
        }
    }
}
