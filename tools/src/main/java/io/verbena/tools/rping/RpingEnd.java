// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.rping;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.Connection;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;

/**
 * The memory of one end and the messages that both understand: an address, a key and a length in 16 bytes
 * (librdmacm/examples/rping.c).
 */
final class RpingEnd implements AutoCloseable {
    static final int INFO_BYTES = 16;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    private final Arena arena = Arena.ofShared();
    private final Connection connection;
    private final Duration patience;
    private final MemoryRegion messages;
    private final MemoryRegion data;
    private final WorkCompletion completion = new WorkCompletion();
    private boolean received;

    /** Where the other side's buffer is. */
    record Info(long address, int rkey, int length) {}

    /** @param bytes of the buffers that the other side reads and writes, or this side uses for both */
    RpingEnd(Connection connection, int bytes, Duration patience) {
        this.connection = connection;
        this.patience = patience;
        messages = connection.protectionDomain().register(arena.allocate(2 * INFO_BYTES), AccessFlag.LOCAL_WRITE);
        data = connection
                .protectionDomain()
                .register(
                        arena.allocate(2L * bytes, 8),
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE);
        postReceive();
    }

    private void postReceive() {
        connection.queuePair().postReceive(RECEIVE, messages, 0, INFO_BYTES);
    }

    /** The first half of the buffer. */
    MemorySegment source() {
        return data.segment().asSlice(0, data.segment().byteSize() / 2);
    }

    /** The second half of the buffer. */
    MemorySegment sink() {
        return data.segment().asSlice(data.segment().byteSize() / 2);
    }

    /** Tells where a part of the buffer is. */
    void send(MemorySegment part) throws InterruptedException {
        MemorySegment message = messages.segment().asSlice(INFO_BYTES);
        message.set(LONG, 0, part.address());
        message.set(INT, 8, data.rkey());
        message.set(INT, 12, (int) part.byteSize());
        connection.queuePair().postSend(SEND, messages, INFO_BYTES, INFO_BYTES, SendFlags.SIGNALED);
        finish("the message");
    }

    /** Waits for what the other side sends; null when it ended the connection. */
    @org.jspecify.annotations.Nullable
    Info receive() throws InterruptedException {
        while (!received) {
            if (!next("a message")) {
                return null;
            }
        }
        received = false;
        MemorySegment message = messages.segment();
        Info info = new Info(message.get(LONG, 0), message.get(INT, 8), message.get(INT, 12));
        postReceive();
        return info;
    }

    void read(Info from, int bytes) throws InterruptedException {
        connection.queuePair().postRead(SEND, data, 0, bytes, from.address(), from.rkey(), SendFlags.SIGNALED);
        finish("the READ");
    }

    void write(Info to, int bytes) throws InterruptedException {
        connection.queuePair().postWrite(SEND, data, 0, bytes, to.address(), to.rkey(), SendFlags.SIGNALED);
        finish("the WRITE");
    }

    private void finish(String what) throws InterruptedException {
        do {
            if (!next(what)) {
                throw new CommandFailure(what + " failed: " + completion.status());
            }
        } while (completion.opcode() == WorkCompletionOpcode.RECV);
    }

    /** Takes a completion; false when the connection is over. */
    private boolean next(String what) throws InterruptedException {
        if (!connection.completions().await(completion, patience)) {
            throw new CommandFailure("no answer in " + patience.toSeconds() + " s while waiting for " + what);
        }
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            return false;
        }
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new CommandFailure(what + " failed: " + completion.status());
        }
        if (completion.opcode() == WorkCompletionOpcode.RECV) {
            if (completion.byteLength() != INFO_BYTES) {
                throw new CommandFailure(
                        "the peer does not speak rping's protocol: a message of " + completion.byteLength() + " bytes");
            }
            received = true;
        }
        return true;
    }

    @Override
    public void close() {
        connection.disconnect();
        data.close();
        messages.close();
        arena.close();
    }
}
