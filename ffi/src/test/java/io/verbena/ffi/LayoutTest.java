// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares constants and structs with what a C compiler makes of the system's own headers. */
class LayoutTest {
    private static final String HEADERS = """
            #define _GNU_SOURCE
            #include <stdio.h>
            #include <string.h>
            #include <errno.h>
            #include <poll.h>
            #include <sys/socket.h>
            #include <sys/eventfd.h>
            #include <netinet/in.h>
            #include <netinet/udp.h>
            #include <arpa/inet.h>
            #include <linux/errqueue.h>
            #include <linux/filter.h>
            #include <asm/socket.h>
            """;
    // Newer than the headers of some systems.
    private static final Set<String> OPTIONAL = Set.of(
            "UDP_SEGMENT", "UDP_GRO", "UDP_NO_CHECK6_TX", "UDP_NO_CHECK6_RX", "SO_PROTOCOL", "IPV6_MULTICAST_ALL");

    @TempDir
    private Path directory;

    private List<String> compileAndRun(String body) throws IOException, InterruptedException {
        assumeTrue(System.getProperty("os.name").equals("Linux"), "not Linux");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/cc")), "no C compiler");
        Path source = directory.resolve("layout.c");
        Path program = directory.resolve("layout");
        Files.writeString(source, HEADERS + "int main(void) {\n" + body + "return 0; }\n");
        Process compiler = new ProcessBuilder("/usr/bin/cc", "-o", program.toString(), source.toString())
                .redirectErrorStream(true)
                .start();
        String messages = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).as(messages).isZero();
        Process run = new ProcessBuilder(program.toString()).start();
        return new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    @Test
    void constantsAreThoseOfTheHeaders() throws Exception {
        StringBuilder body = new StringBuilder();
        for (Class<?> constants : List.of(LinuxSockets.class, Errno.class)) {
            for (Field field : constants.getFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() != boolean.class) {
                    String name = field.getName();
                    String print = "printf(\"" + name + " %d\\n\", (int) " + name + ");\n";
                    body.append(OPTIONAL.contains(name) ? "#ifdef " + name + "\n" + print + "#endif\n" : print);
                }
            }
        }
        List<String> lines = compileAndRun(body.toString());
        assertThat(lines).hasSizeGreaterThan(50);
        Pattern pattern = Pattern.compile("(\\w+) (-?\\d+)");
        for (String line : lines) {
            Matcher matcher = pattern.matcher(line);
            assertThat(matcher.matches()).isTrue();
            Field field = matcher.group(1).startsWith("E") && !matcher.group(1).startsWith("EFD")
                    ? Errno.class.getField(matcher.group(1))
                    : LinuxSockets.class.getField(matcher.group(1));
            assertThat(((Number) field.get(null)).intValue()).as(line).isEqualTo(Integer.parseInt(matcher.group(2)));
        }
    }

    private static String hex(MemorySegment segment, long bytes) {
        return HexFormat.of().formatHex(segment.asSlice(0, bytes).toArray(JAVA_BYTE));
    }

    @Test
    void structsAreThoseOfTheHeaders() throws Exception {
        List<String> lines = compileAndRun("""
                #define DUMP(x) do { unsigned char *p = (unsigned char *) &x; \\
                    for (unsigned i = 0; i < sizeof x; i++) printf("%02x", p[i]); printf("\\n"); } while (0)
                struct sockaddr_in in; memset(&in, 0, sizeof in);
                in.sin_family = AF_INET; in.sin_port = htons(4791); in.sin_addr.s_addr = htonl(0x7f4d0102);
                DUMP(in);
                struct sockaddr_in6 in6; memset(&in6, 0, sizeof in6);
                in6.sin6_family = AF_INET6; in6.sin6_port = htons(4791); in6.sin6_scope_id = 7;
                for (int i = 0; i < 16; i++) in6.sin6_addr.s6_addr[i] = i + 1;
                DUMP(in6);
                struct msghdr m; memset(&m, 0, sizeof m);
                m.msg_name = (void *) 0x1111; m.msg_namelen = 28; m.msg_iovlen = 1;
                m.msg_control = (void *) 0x3333; m.msg_controllen = 64;
                DUMP(m);
                struct iovec v; v.iov_base = (void *) 0x4444; v.iov_len = 5555; DUMP(v);
                struct cmsghdr c; c.cmsg_len = CMSG_LEN(2); c.cmsg_level = 17; c.cmsg_type = 103; DUMP(c);
                printf("%d %d %d\\n", (int) CMSG_SPACE(2), (int) CMSG_SPACE(4), (int) CMSG_LEN(0));
                struct sock_extended_err e; memset(&e, 0, sizeof e); e.ee_errno = 111; e.ee_origin = 2; DUMP(e);
                struct pollfd q; q.fd = 9; q.events = POLLOUT; q.revents = POLLERR; DUMP(q);
                struct sock_filter f = BPF_STMT(BPF_RET | BPF_K, 0); DUMP(f);
                struct ip_mreqn g; memset(&g, 0, sizeof g);
                g.imr_multiaddr.s_addr = htonl(0xef010203); g.imr_ifindex = 9; DUMP(g);
                struct ipv6_mreq g6; memset(&g6, 0, sizeof g6); g6.ipv6mr_interface = 9;
                for (int i = 0; i < 16; i++) g6.ipv6mr_multiaddr.s6_addr[i] = i + 1;
                DUMP(g6);
                """);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(128, 8);
            SockAddr.write(segment, 0, false, 0, 0xffff_7f4d_0102L, 4791, 0);
            assertThat(lines.get(0)).isEqualTo(hex(segment, SockAddr.IN_BYTES));
            SockAddr.write(segment, 0, true, 0x0102030405060708L, 0x090a0b0c0d0e0f10L, 4791, 7);
            assertThat(lines.get(1)).isEqualTo(hex(segment, SockAddr.IN6_BYTES));
            segment.fill((byte) 0);
            MsgHdr.init(segment, MemorySegment.ofAddress(0x1111), MemorySegment.ofAddress(0x3333));
            MsgHdr.lengths(segment, 28, 64);
            MsgHdr.data(segment, 0x4444, 5555);
            // The pointer to the iovec, which C leaves null here, is ours.
            String pointer = hex(segment.asSlice(16), 8);
            assertThat(lines.get(2)).isEqualTo(hex(segment, 56).replace(pointer, "0".repeat(16)));
            assertThat(lines.get(3)).isEqualTo(hex(segment.asSlice(56), 16));
            MsgHdr.cmsg(segment, 0, 17, 103, 2);
            assertThat(lines.get(4)).isEqualTo(hex(segment, MsgHdr.CMSG_HEADER_BYTES));
            assertThat(lines.get(5)).isEqualTo("24 24 16");
            assertThat(MsgHdr.cmsgNext(segment, 0)).isEqualTo(24);
            assertThat(lines.get(6)).isEqualTo("6f000000" + "02" + "00".repeat(11));
            assertThat(lines.get(7)).isEqualTo("09000000" + "0400" + "0800");
            assertThat(lines.get(8)).isEqualTo("0600" + "00".repeat(6));
            Multicast.writeIpv4(segment, 0xef010203, 9);
            assertThat(lines.get(9)).isEqualTo(hex(segment, Multicast.MREQN_BYTES));
            Multicast.writeIpv6(segment, 0x0102030405060708L, 0x090a0b0c0d0e0f10L, 9);
            assertThat(lines.get(10)).isEqualTo(hex(segment, Multicast.IPV6_MREQ_BYTES));
        }
    }
}
