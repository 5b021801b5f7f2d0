// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

/** The clock of a {@link SteppedDevice}, and the power to make its time pass. */
public interface VirtualTime {
    /** The device's clock, in nanoseconds; it never goes back. */
    long nanoTime();

    /** An application's poll found nothing: a little time passes, or all until something happens. */
    void polledInVain();

    /** An application waits: time passes until something happens, at most until the device's clock shows this. */
    void advance(long deadlineNs);
}
