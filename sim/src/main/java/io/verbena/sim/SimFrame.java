// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A frame that was sent, in the hands of an {@link Interceptor}. */
public final class SimFrame {
    private final Frame frame = new Frame();
    private final Icrc icrc = new Icrc();
    private final Fabric fabric;
    private @Nullable Flight flight;
    private String from = "";
    private String to = "";
    boolean dropped;
    long delayNs;

    SimFrame(Fabric fabric) {
        this.fabric = fabric;
    }

    void set(Flight flight, Host from, Host to) {
        this.flight = flight;
        this.from = from.name();
        this.to = to.name();
        dropped = false;
        delayNs = 0;
    }

    private Flight flight() {
        return Objects.requireNonNull(flight);
    }

    /** The name of the sending host: {@code a}, {@code b}, ... */
    public String from() {
        return from;
    }

    public String to() {
        return to;
    }

    /** Where the bytes lie; they may be changed: see {@link #reseal}. */
    public MemorySegment buffer() {
        return flight().buffer;
    }

    /** Where the BTH begins. */
    public long offset() {
        return flight().offset;
    }

    /** Bytes from the BTH to the ICRC. */
    public int length() {
        return flight().length;
    }

    public @Nullable Opcode opcode() {
        return length() < Bth.BYTES ? null : Opcode.of(Bth.opcode(buffer(), offset()));
    }

    public int psn() {
        return Bth.psn(buffer(), offset());
    }

    public int destinationQp() {
        return Bth.destinationQp(buffer(), offset());
    }

    /** The frame is lost. */
    public void drop() {
        dropped = true;
    }

    /** The frame arrives later by so much, behind frames sent after it. */
    public void delay(long ns) {
        delayNs = ns;
    }

    /** Gives changed bytes the right ICRC again. */
    public void reseal() {
        int end = length() - Icrc.BYTES;
        Icrc.store(buffer(), offset() + end, icrc.rocev2(describe(), end));
    }

    /** Sends a copy of the bytes as they are now, which arrives so much later than the frame would without faults. */
    public void sendCopy(long laterNs) {
        fabric.sendCopy(flight(), laterNs);
    }

    private Frame describe() {
        Flight it = flight();
        frame.wrap(it.buffer, it.offset, it.length);
        frame.ipId(0);
        frame.local(it.sourceHigh, it.sourceLow, it.sourcePort);
        frame.remote(it.targetHigh, it.targetLow, it.targetPort);
        return frame;
    }
}
