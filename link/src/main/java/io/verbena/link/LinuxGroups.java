// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.LinuxSockets;
import java.lang.foreign.Arena;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which group sockets of a {@link LinuxDatagramLink} have something to read: one system call asks for all of them, and
 * they come up in turn, so that a busy one does not starve the others.
 */
final class LinuxGroups {
    private final GroupSockets<LinuxReceiver> sockets;
    private final PollSet polls;
    private boolean ready;
    private int turn;

    LinuxGroups(GroupSockets<LinuxReceiver> sockets, Arena arena) {
        this.sockets = sockets;
        polls = new PollSet(arena, GroupSockets.CAPACITY);
    }

    /** Costs nothing while no group is joined. */
    void look() {
        List<LinuxReceiver> all = sockets.all();
        ready = false;
        if (all.isEmpty()) {
            return;
        }
        for (int i = 0; i < all.size(); i++) {
            polls.set(i, all.get(i).fd, LinuxSockets.POLLIN);
        }
        ready = polls.poll(all.size(), 0) > 0;
        for (int i = 0; i < all.size(); i++) {
            all.get(i).ready = ready && polls.returned(i) != 0;
        }
    }

    /** Whether {@link #next} may give a socket. */
    boolean ready() {
        return ready;
    }

    /** The next socket that is marked as ready; null if none is. The caller takes the mark away from an empty one. */
    @Nullable
    LinuxReceiver next() {
        List<LinuxReceiver> all = sockets.all();
        for (int i = 0; i < all.size(); i++) {
            turn = (turn + 1) % all.size();
            LinuxReceiver socket = all.get(turn);
            if (socket.ready) {
                return socket;
            }
        }
        ready = false;
        return null;
    }
}
