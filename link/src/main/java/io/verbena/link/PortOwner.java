// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Tells who holds a UDP port, where the operating system tells: on Linux from proc(5). */
public final class PortOwner {
    private static final Path PROC = Path.of("/proc");
    private static final String KERNEL = "the kernel, probably rdma_rxe";
    private static final int COMMAND_CHARS_MAX = 120;
    // Columns of /proc/net/udp, split at white space.
    private static final int LOCAL_COLUMN = 1;
    private static final int UID_COLUMN = 7;
    private static final int INODE_COLUMN = 9;

    private PortOwner() {}

    /** Such as "pid 1234 (java -jar x)" or "the kernel, probably rdma_rxe"; empty if unknown or nobody. */
    public static Optional<String> describe(InetAddress address, int port) {
        long high = Addresses.high(address);
        long low = Addresses.low(address);
        String ipv6 = hexLong(high) + hexLong(low);
        String any = "0".repeat(32);
        String owner = null;
        if (high == 0 && (low >>> 32) == 0xffffL) {
            owner = find("udp", port, hexInt((int) low), "0".repeat(8));
        }
        if (owner == null) {
            owner = find("udp6", port, ipv6, any);
        }
        return Optional.ofNullable(owner);
    }

    private static @Nullable String find(String table, int port, String address, String anyAddress) {
        String suffix = String.format(Locale.ROOT, ":%04X", port);
        try {
            for (String line : Files.readAllLines(PROC.resolve("net").resolve(table), StandardCharsets.ISO_8859_1)) {
                String[] columns = line.strip().split("\\s+", -1);
                if (columns.length <= INODE_COLUMN) {
                    continue;
                }
                String local = columns[LOCAL_COLUMN];
                if (local.equals(address + suffix) || local.equals(anyAddress + suffix)) {
                    return describeSocket(columns[INODE_COLUMN], columns[UID_COLUMN]);
                }
            }
        } catch (IOException e) {
            // No proc file system here: nobody tells.
            return null;
        }
        return null;
    }

    private static String describeSocket(String inode, String uid) {
        String link = "socket:[" + inode + "]";
        boolean sawAll = true;
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                try {
                    if (holds(process, link)) {
                        return "pid " + process.getFileName() + command(process);
                    }
                } catch (AccessDeniedException e) {
                    sawAll = false;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            sawAll = false;
        }
        // A socket that the kernel made for itself is listed like any other, but no process has a descriptor of it.
        return sawAll ? KERNEL : KERNEL + ", or a process of user id " + uid + " that this user cannot see";
    }

    private static boolean holds(Path process, String link) throws AccessDeniedException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                if (isLinkTo(descriptor, link)) {
                    return true;
                }
            }
        } catch (AccessDeniedException e) {
            throw e;
        } catch (IOException | DirectoryIteratorException e) {
            // The process ended meanwhile.
            return false;
        }
        return false;
    }

    private static boolean isLinkTo(Path descriptor, String link) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(link);
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }

    private static String command(Path process) {
        try {
            String command = new String(Files.readAllBytes(process.resolve("cmdline")), StandardCharsets.UTF_8)
                    .replace('\0', ' ')
                    .strip();
            if (command.length() > COMMAND_CHARS_MAX) {
                command = command.substring(0, COMMAND_CHARS_MAX) + "...";
            }
            return command.isEmpty() ? "" : " (" + command + ")";
        } catch (IOException e) {
            return "";
        }
    }

    /** As the kernel prints addresses: 32-bit words in the byte order of the machine, which is little-endian here. */
    private static String hexInt(int networkOrder) {
        return String.format(Locale.ROOT, "%08X", Integer.reverseBytes(networkOrder));
    }

    private static String hexLong(long networkOrder) {
        return hexInt((int) (networkOrder >>> 32)) + hexInt((int) networkOrder);
    }
}
