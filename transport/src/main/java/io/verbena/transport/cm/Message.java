// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Mad;
import java.lang.foreign.MemorySegment;

/** A datagram to send, once or several times. */
final class Message {
    final Path path;
    final MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);
    /** It waits in the outbox. */
    boolean queued;

    Message(Path path, CmAttribute attribute, long transaction) {
        this.path = path;
        Mad.write(mad, 0, attribute, transaction);
    }

    /** Fills in private data; returns this. */
    Message with(int offset, byte[] privateData) {
        MemorySegment.copy(MemorySegment.ofArray(privateData), 0, mad, offset, privateData.length);
        return this;
    }
}
