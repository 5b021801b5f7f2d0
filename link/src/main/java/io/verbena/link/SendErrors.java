// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.Errno;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;

/** The errno behind an exception of {@code java.nio.channels}, as far as its type and message tell. */
final class SendErrors {
    private SendErrors() {}

    static int errno(IOException e) {
        if (e instanceof PortUnreachableException || e instanceof ConnectException) {
            return Errno.ECONNREFUSED;
        }
        if (e instanceof NoRouteToHostException) {
            return Errno.EHOSTUNREACH;
        }
        // The JDK keeps the text of strerror(3) and no number. In another locale the texts differ: that reads as EIO.
        String message = String.valueOf(e.getMessage());
        if (message.contains("No buffer space")) {
            return Errno.ENOBUFS;
        }
        if (message.contains("Network is unreachable")) {
            return Errno.ENETUNREACH;
        }
        if (message.contains("Message too long")) {
            return Errno.EMSGSIZE;
        }
        if (message.contains("Operation not permitted")) {
            return Errno.EPERM;
        }
        if (message.contains("Permission denied")) {
            return Errno.EACCES;
        }
        if (message.contains("Network is down")) {
            return Errno.ENETDOWN;
        }
        return message.contains("Invalid argument") ? Errno.EINVAL : Errno.EIO;
    }
}
