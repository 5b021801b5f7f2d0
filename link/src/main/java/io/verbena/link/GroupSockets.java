// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The multicast groups that a link has joined, with a socket each. The owner of the link changes them; any thread may
 * look at {@link #all}.
 */
final class GroupSockets<S extends ReceivingSocket> {
    static final int CAPACITY = 256;

    /** Opens the socket of a group. */
    interface Opener<S> {
        S open(long high, long low) throws IOException;
    }

    private final LocalEnd local;
    private final Opener<S> opener;
    private volatile List<S> all = List.of();

    GroupSockets(LocalEnd local, Opener<S> opener) {
        this.local = local;
        this.opener = opener;
    }

    /** A snapshot: it never changes. */
    List<S> all() {
        return all;
    }

    /** The new socket, or null if the group was joined before. */
    @Nullable
    S join(long high, long low) throws IOException {
        GroupErrors.check(local, high, low);
        if (find(high, low) != null) {
            return null;
        }
        List<S> more = new ArrayList<>(all);
        if (more.size() == CAPACITY) {
            throw new IOException("this link has joined " + CAPACITY + " multicast groups, the most it can: leave one");
        }
        S socket = opener.open(high, low);
        more.add(socket);
        all = List.copyOf(more);
        return socket;
    }

    /** The socket that was closed, or null if the group was not joined. */
    @Nullable
    S leave(long high, long low) {
        S socket = find(high, low);
        if (socket != null) {
            List<S> fewer = new ArrayList<>(all);
            fewer.remove(socket);
            all = List.copyOf(fewer);
            socket.close();
        }
        return socket;
    }

    private @Nullable S find(long high, long low) {
        for (S socket : all) {
            if (socket.high == high && socket.low == low) {
                return socket;
            }
        }
        return null;
    }

    void close() {
        for (S socket : all) {
            socket.close();
        }
    }
}
