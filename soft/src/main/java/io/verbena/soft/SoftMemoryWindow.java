// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.memory.Window;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.RdmaException;
import java.util.concurrent.atomic.AtomicInteger;

/** A memory window: the key as programs see it, which runs ahead of the engine's by the binds that are posted. */
final class SoftMemoryWindow implements MemoryWindow {
    private final SoftProtectionDomain domain;
    private final MemoryWindowType type;
    private final Window engine;
    private final AtomicInteger rkey;
    private volatile boolean closed;

    SoftMemoryWindow(SoftProtectionDomain domain, MemoryWindowType type, Window engine) {
        this.domain = domain;
        this.type = type;
        this.engine = engine;
        this.rkey = new AtomicInteger(engine.rkey());
    }

    SoftContext softContext() {
        return domain.softContext();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemoryWindowType type() {
        return type;
    }

    @Override
    public int rkey() {
        return rkey.get();
    }

    /** A bind that gives the window this key is posted. */
    void rkey(int posted) {
        rkey.set(posted);
    }

    /** The key for a bind that is posted: the next one, for nobody else. */
    int advance() {
        return rkey.updateAndGet(key -> (key & ~0xff) | ((key + 1) & 0xff));
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the memory window is closed");
        }
    }

    @Override
    public void close() {
        domain.agent().run(() -> {
            if (!closed) {
                closed = true;
                domain.agent().port().keys().remove(engine);
                domain.softContext().memoryWindows().giveBack();
                domain.childChanged(-1);
            }
        });
    }

    @Override
    public String toString() {
        return String.format("MemoryWindow[%s, rkey 0x%08x]", type, rkey());
    }
}
