// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.wire.Frame;
import java.io.IOException;

/**
 * A link that loses, doubles, delays and damages frames of another, repeatably. For tests and tools. A receive may hand
 * over more frames than asked for, by what is doubled or was delayed.
 */
public final class FaultyLink extends ForwardingLink {
    private static final long TRANSMIT_STREAM = 1;
    private static final long RECEIVE_STREAM = 2;
    /** An owner that polls and never awaits still gets a held frame moving after so many empty rounds. */
    private static final int IDLE_ROUNDS_MAX = 256;

    private final FaultOptions options;
    private final FaultDice transmitDice;
    private final FaultDice receiveDice;
    private final HeldFrame heldTransmit = new HeldFrame();
    private final HeldFrame heldReceive = new HeldFrame();
    private final HeldFrame second = new HeldFrame();
    private final Frame extra = new Frame();
    private final IcrcStamp icrc = new IcrcStamp();
    private final FrameHandler onFrame = this::onFrame;
    private FrameHandler handler = frame -> {};
    private int delivered;
    private int idleRounds;
    private boolean receiveIdle;
    private long lost;
    private long duplicated;
    private long reordered;
    private long corrupted;

    public FaultyLink(DatagramLink link, FaultOptions options) {
        super(link);
        this.options = options;
        transmitDice = new FaultDice(options, TRANSMIT_STREAM);
        receiveDice = new FaultDice(options, RECEIVE_STREAM);
    }

    public long lost() {
        return lost;
    }

    public long duplicated() {
        return duplicated;
    }

    public long reordered() {
        return reordered;
    }

    public long corrupted() {
        return corrupted;
    }

    @Override
    public boolean beginTransmit(Frame frame) {
        return link.beginTransmit(frame);
    }

    @Override
    public void commitTransmit(Frame frame) throws IOException {
        if (!options.onTransmit()) {
            link.commitTransmit(frame);
            return;
        }
        FaultDice dice = transmitDice;
        dice.roll();
        if (dice.lost()) {
            // Begun and not committed: the room is offered again.
            lost++;
            return;
        }
        corrupt(dice, frame);
        if (dice.reorderDistance() > 0 && !heldTransmit.full()) {
            reordered++;
            heldTransmit.hold(frame, dice.reorderDistance());
            return;
        }
        boolean twice = dice.duplicated();
        if (twice) {
            second.hold(frame, 0);
        }
        link.commitTransmit(frame);
        if (twice && transmitCopy(second.release())) {
            duplicated++;
        }
        if (heldTransmit.overtaken()) {
            releaseTransmit();
        }
    }

    /** The held frame stays held while the link has no room. */
    private void releaseTransmit() throws IOException {
        if (heldTransmit.full() && link.beginTransmit(extra)) {
            transmitInto(extra, heldTransmit.release());
        }
    }

    private boolean transmitCopy(Frame copy) throws IOException {
        if (!link.beginTransmit(extra)) {
            return false;
        }
        transmitInto(extra, copy);
        return true;
    }

    private void transmitInto(Frame room, Frame copy) throws IOException {
        int ipId = room.ipId();
        HeldFrame.copy(copy, room, room.buffer(), room.offset());
        icrc.restamp(room, copy.ipId(), ipId);
        link.commitTransmit(room);
    }

    @Override
    public int receive(FrameHandler handler, int framesMax) throws IOException {
        if (!options.onReceive()) {
            idleRound();
            return link.receive(handler, framesMax);
        }
        this.handler = handler;
        delivered = 0;
        if (link.receive(onFrame, framesMax) == 0) {
            idleRound();
            if (receiveIdle && heldReceive.full()) {
                deliver(heldReceive.release());
            }
        }
        receiveIdle = false;
        return delivered;
    }

    private void onFrame(Frame frame) {
        FaultDice dice = receiveDice;
        dice.roll();
        if (dice.lost()) {
            lost++;
            return;
        }
        corrupt(dice, frame);
        if (dice.reorderDistance() > 0 && !heldReceive.full()) {
            reordered++;
            heldReceive.hold(frame, dice.reorderDistance());
            return;
        }
        if (dice.duplicated()) {
            // From a copy, because the handler may overwrite the bytes.
            second.hold(frame, 0);
            deliver(frame);
            deliver(second.release());
            duplicated++;
        } else {
            deliver(frame);
        }
        if (heldReceive.overtaken()) {
            deliver(heldReceive.release());
        }
    }

    private void deliver(Frame frame) {
        delivered++;
        handler.onFrame(frame);
    }

    private void corrupt(FaultDice dice, Frame frame) {
        if (dice.corrupted() && frame.length() > 0) {
            corrupted++;
            long bit = dice.bit(frame.length());
            long offset = frame.offset() + (bit >>> 3);
            byte old = frame.buffer().get(JAVA_BYTE, offset);
            frame.buffer().set(JAVA_BYTE, offset, (byte) (old ^ (1 << (bit & 7))));
        }
    }

    private void idleRound() throws IOException {
        if (++idleRounds >= IDLE_ROUNDS_MAX) {
            idle();
        }
    }

    /** Nothing is left that could overtake: held frames go, a received one at the next receive. */
    private void idle() throws IOException {
        idleRounds = 0;
        receiveIdle = true;
        releaseTransmit();
    }

    @Override
    public boolean await(long timeoutNanos) throws IOException {
        idle();
        link.flush();
        boolean holding = heldReceive.full();
        return link.await(holding ? 0 : timeoutNanos) || holding;
    }

    @Override
    public String toString() {
        return "FaultyLink[" + link + ", " + options + "]";
    }
}
