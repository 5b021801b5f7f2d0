// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ProtectionDomain;

/** A resolved destination: a number in the engine's table. */
final class SoftAddressHandle implements AddressHandle {
    private final SoftProtectionDomain domain;
    private final AddressVector vector;
    private final int number;
    /** Guarded by the agent's owner lock. */
    private boolean closed;

    SoftAddressHandle(SoftProtectionDomain domain, AddressVector vector, int number) {
        this.domain = domain;
        this.vector = vector;
        this.number = number;
    }

    /** What a slot of the send queue names it by. */
    int number() {
        return number;
    }

    boolean belongsTo(SoftProtectionDomain other) {
        return domain == other;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public AddressVector addressVector() {
        return vector;
    }

    @Override
    public void close() {
        domain.agent().run(() -> {
            if (!closed) {
                closed = true;
                domain.agent().port().addressHandles().remove(number);
                domain.childChanged(-1);
            }
        });
    }

    @Override
    public String toString() {
        return "AddressHandle[" + vector.destinationGid() + "]";
    }
}
