// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/**
 * How to open a link.
 *
 * @param receiveBufferBytes asked of the kernel, which may give less (Linux: net.core.rmem_max)
 * @param sendBufferBytes asked of the kernel for each sending socket
 * @param sourcePorts size of the pool of sending sockets
 * @param nativeExtras whether to use system calls that Java has no API for, where they are granted
 */
public record LinkOptions(int receiveBufferBytes, int sendBufferBytes, int sourcePorts, boolean nativeExtras) {
    private static final int SOURCE_PORTS_MAX = 64;
    private static final LinkOptions DEFAULTS = new LinkOptions(4 << 20, 1 << 20, 8, true);

    public LinkOptions {
        if (receiveBufferBytes <= 0 || sendBufferBytes <= 0) {
            throw new IllegalArgumentException("buffer sizes must be positive");
        }
        if (sourcePorts < 1 || sourcePorts > SOURCE_PORTS_MAX) {
            throw new IllegalArgumentException("source ports: 1 to " + SOURCE_PORTS_MAX + ", not " + sourcePorts);
        }
    }

    public static LinkOptions defaults() {
        return DEFAULTS;
    }

    public LinkOptions withReceiveBufferBytes(int bytes) {
        return new LinkOptions(bytes, sendBufferBytes, sourcePorts, nativeExtras);
    }

    public LinkOptions withSendBufferBytes(int bytes) {
        return new LinkOptions(receiveBufferBytes, bytes, sourcePorts, nativeExtras);
    }

    public LinkOptions withSourcePorts(int ports) {
        return new LinkOptions(receiveBufferBytes, sendBufferBytes, ports, nativeExtras);
    }

    public LinkOptions withNativeExtras(boolean wanted) {
        return new LinkOptions(receiveBufferBytes, sendBufferBytes, sourcePorts, wanted);
    }
}
