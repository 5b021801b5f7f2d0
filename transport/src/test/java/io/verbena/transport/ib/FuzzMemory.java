// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.memory.Window;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.SendOpcode;

/** What a fuzzed peer may write, what it may not, and windows through which it may write a part. */
final class FuzzMemory {
    /** What a packet can name; the order is that of the corpus. */
    enum Kind {
        /** Registered for everything. */
        NAMED,
        /** Registered for local use. */
        LOCAL,
        /** Of another domain. */
        FOREIGN,
        /** Through a type 1 window. */
        DOMAIN_WINDOW,
        /** Through a type 2 window. */
        OWN_WINDOW,
        /** Through a type 2 window that another queue pair has bound. */
        STRANGERS_WINDOW,
        /** Where the windows are, by the keys of its region. */
        BESIDE_WINDOWS;

        static final Kind[] ALL = values();
    }

    private static final byte SECRET = 0x33;
    private static final int SECRET_BYTES = 1024;
    /** Windows are bound to this part only. */
    private static final int OPEN_START = 256;

    private static final int OPEN_END = 768;
    private static final int WINDOW_RIGHTS =
            AccessFlag.mask(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);

    private final TestHost host;
    private final Region local;
    private final Region foreign;
    private final Region windowed;
    private final Window domainWindow;
    private final Window ownWindow;
    private final Window strangersWindow;
    private Region named;

    FuzzMemory(TestHost host) {
        this.host = host;
        named = host.region(64 << 10);
        local = secret(AccessFlag.LOCAL_WRITE.code(), TestHost.DOMAIN);
        foreign = secret(TestHost.ALL, TestHost.DOMAIN + 1);
        windowed = secret(AccessFlag.mask(AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND), TestHost.DOMAIN);
        domainWindow = host.window(MemoryWindowType.TYPE_1);
        ownWindow = host.window(MemoryWindowType.TYPE_2);
        strangersWindow = host.window(MemoryWindowType.TYPE_2);
    }

    private Region secret(int access, int domain) {
        return host.register(host.allocate(SECRET_BYTES).fill(SECRET), access, domain);
    }

    /** Registered for everything. */
    Region named() {
        return named;
    }

    /** Has no rights here: no local work may read or write it. */
    Region foreign() {
        return foreign;
    }

    /** What gives a packet its addresses. */
    Region region(Kind kind) {
        return switch (kind) {
            case NAMED -> named;
            case LOCAL -> local;
            case FOREIGN -> foreign;
            default -> windowed;
        };
    }

    int rkey(Kind kind) {
        return switch (kind) {
            case NAMED -> named.rkey();
            case LOCAL -> local.rkey();
            case FOREIGN -> foreign.rkey();
            case DOMAIN_WINDOW -> domainWindow.rkey();
            case OWN_WINDOW -> ownWindow.rkey();
            case STRANGERS_WINDOW -> strangersWindow.rkey();
            case BESIDE_WINDOWS -> windowed.rkey();
        };
    }

    /** The work that binds the window of another queue pair, to a part that no window else reaches. */
    Work bindStrangers() {
        return Work.bind(1, strangersWindow.rkey() ^ 1, windowed, OPEN_END, SECRET_BYTES - OPEN_END, WINDOW_RIGHTS);
    }

    /**
     * The work that binds a window to a part of what is open, or takes its rights back.
     *
     * @param choice bit 0 chooses the window, bit 1 what is done, the others the low bits of the key
     */
    Work windowWork(int choice, int start, int length) {
        Window window = (choice & 1) == 0 ? domainWindow : ownWindow;
        int key = window.rkey() ^ choice >> 2;
        if ((choice & 2) != 0) {
            return Work.localInvalidate(9, key);
        }
        int at = OPEN_START + start;
        int rights = (choice & 0x80) == 0 ? WINDOW_RIGHTS : AccessFlag.REMOTE_READ.code();
        return Work.bind(8, key, windowed, at, Math.min(length, OPEN_END - at), rights);
    }

    static boolean canBind(TestQueuePair end) {
        return SendOpcode.BIND_MW.isPossibleOn(end.any.type());
    }

    /** Registers the memory that packets name anew, under new keys or under the same. */
    void register(boolean sameKeys) {
        Region successor = new Region(named.segment(), TestHost.ALL, TestHost.DOMAIN);
        if (sameKeys) {
            host.port.keys().replace(named, successor);
        } else {
            host.port.keys().remove(named);
            host.port.keys().add(successor);
        }
        named = successor;
    }

    /** Fails when memory was written that no packet may write. */
    void check() {
        host.checkGuards();
        unchanged(local, SECRET_BYTES, SECRET_BYTES);
        unchanged(foreign, SECRET_BYTES, SECRET_BYTES);
        unchanged(windowed, OPEN_START, OPEN_END);
    }

    private static void unchanged(Region region, int openStart, int openEnd) {
        for (int i = 0; i < SECRET_BYTES; i++) {
            if (region.segment().get(JAVA_BYTE, i) != SECRET && (i < openStart || i >= openEnd)) {
                throw new AssertionError("byte " + i + " was written, which no packet may write");
            }
        }
    }
}
