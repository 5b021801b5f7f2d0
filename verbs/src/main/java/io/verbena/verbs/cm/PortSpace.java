// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

/** What kind of service a port number names (rdma_port_space; IBTA volume 1, A11.2.1). */
public enum PortSpace {
    /** Reliable connections (RDMA_PS_TCP). */
    TCP(0x0106),
    /** Datagrams (RDMA_PS_UDP). */
    UDP(0x0111);

    private final int number;

    PortSpace(int number) {
        this.number = number;
    }

    /** The 16 bits that stand for it on the wire. */
    public int number() {
        return number;
    }

    /** The 64 bits that name a port of this space on the wire. */
    public long serviceId(int port) {
        return (long) number << 16 | port;
    }
}
