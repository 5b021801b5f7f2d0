// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketOption;

/** A sideband without a network, whose peer says given bytes and ends. */
public final class ScriptedSideband {
    private ScriptedSideband() {}

    public static Sideband saying(byte[] bytes) throws IOException {
        return new TcpSideband(new Script(bytes));
    }

    private static final class Script extends Socket {
        private final byte[] bytes;

        Script(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public <T> Socket setOption(SocketOption<T> name, T value) {
            return this;
        }

        @Override
        public InetAddress getInetAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public InputStream getInputStream() {
            return new ByteArrayInputStream(bytes);
        }

        @Override
        public OutputStream getOutputStream() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public void shutdownOutput() {
            // There is nobody to tell.
        }
    }
}
