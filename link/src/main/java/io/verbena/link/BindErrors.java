// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.util.stream.Collectors;

/** Says what went wrong when a link could not be opened, and what to do. */
final class BindErrors {
    private BindErrors() {}

    static IOException explain(InetAddress local, int port, IOException cause) {
        String text = String.valueOf(cause.getMessage());
        if (text.contains("Permission denied") || text.contains("Operation not permitted")) {
            return with(
                    "UDP port " + port + " on " + local.getHostAddress()
                            + " is not permitted to this user: take a port from 1024 up, or ask what forbids it"
                            + " (seccomp, a security module, ip_unprivileged_port_start)",
                    cause);
        }
        String holder = PortOwner.describe(local, port).orElse("another socket");
        // rdma_rxe takes the port on all addresses of its network namespace.
        String remedy = holder.startsWith("the kernel")
                ? "Remove the rxe link (rdma link delete NAME), or use another network namespace."
                : "Stop that process, or use another local address" + otherAddress(local) + ".";
        return new PortInUseException(
                "UDP port " + port + " on " + local.getHostAddress() + " is held by " + holder + ". " + remedy, cause);
    }

    private static String otherAddress(InetAddress local) {
        return local.isLoopbackAddress() ? " (127.0.0.2 and so on are free to use on loopback)" : "";
    }

    static IOException notLocal(InetAddress local) throws IOException {
        String known = LocalInterfaces.list().stream()
                .map(address -> address.address().getHostAddress())
                .collect(Collectors.joining(", "));
        return new BindException(local.getHostAddress() + " is not an address of this host, which has " + known);
    }

    private static IOException with(String message, IOException cause) {
        BindException exception = new BindException(message);
        exception.initCause(cause);
        return exception;
    }
}
