// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.wire.cm.CmAttribute.REJ;
import static io.verbena.wire.cm.CmAttribute.REQ;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.verbs.Mtu;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Req;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a port says to a request before its consumers hear of it. Each row changes one field of a good request. */
final class RequestCheckTest {
    private final CmPair pair = new CmPair();
    private final CmPeer client = pair.client;
    private final CmPeer server = pair.server;

    /** The client's request, with these bytes at this offset behind the header. */
    private Datagram forged(int offset, String bytes) {
        pair.connect();
        Datagram request = pair.lose(client, REQ).getFirst();
        byte[] values = HexFormat.of().parseHex(bytes);
        for (int i = 0; i < values.length; i++) {
            request = Forge.withByte(request, Mad.HEADER_BYTES + offset + i, values[i]);
        }
        return request;
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    what,                         at, bytes,            reason
                    remote GID of another port,   72, fe,               12
                    remote GID of another port,   87, 09,               12
                    no remote GID,                80, 0000000000000000, 12
                    local GID of a third port,    71, 09,               12
                    another partition,            48, ffFE,             12
                    another partition,            48, 7ffe,             12
                    no partition,                 48, 0000,             12
                    transport RD,                 43, 84,               9
                    transport 2 with flow control,43, 85,               9
                    extended transport (XRC),     43, 86,               9
                    no path MTU,                  50, 05,               26
                    path MTU code 6,              50, 65,               26
                    path MTU code 15,             50, f5,               26
                    """, useHeadersInDisplayName = true)
    void whatThePortCannotMeetIsRefusedByThePort(String what, int at, String bytes, int reason) {
        server.receive(pair.now, forged(at, bytes));
        Datagram rej = pair.pass(server, REJ).getFirst();
        assertThat(Rej.Fields.read(rej.segment(), 0))
                .as(what)
                .extracting(Rej.Fields::localId, Rej.Fields::message, Rej.Fields::reason)
                .containsExactly(0, Rej.MESSAGE_REQ, reason);
        assertThat(client.events).containsExactly("rejected " + reason);
        assertThat(server.events).isEmpty();
        assertThat(server.manager.conversations()).isZero();
        assertThat(server.manager.counter(CmCounter.REQUESTS_REFUSED)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    what,                    at, bytes
                    no communication id,     0,  00000000
                    queue pair 0,            32, 000000
                    queue pair 1,            32, 000001
                    queue pair of multicast, 32, ffffff
                    """, useHeadersInDisplayName = true)
    void whatMeansNothingIsDropped(String what, int at, String bytes) {
        server.receive(pair.now, forged(at, bytes));
        assertThat(server.events).as(what).isEmpty();
        assertThat(server.manager.counter(CmCounter.DROP_MALFORMED)).isEqualTo(1);
        assertThat(server.manager.conversations()).isZero();
        pair.lose(server);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    what,                    at,  bytes
                    reserved bits,           24,  01
                    a Q_Key,                 28,  11111111
                    an EE context,           36,  000001
                    no resources or depth,   35,  00
                    transport UC,            43,  82
                    limited membership,      48,  7fff
                    MTU 256,                 50,  15
                    MTU 4096,                50,  55
                    no CM retries,           51,  00
                    LIDs,                    52,  00010002
                    an alternate LID,        96,  0001
                    an alternate GID,        100, fe
                    an alternate timeout,    139, 98
                    """, useHeadersInDisplayName = true)
    void whatDoesNotMatterIsTolerated(String what, int at, String bytes) {
        server.receive(pair.now, forged(at, bytes));
        assertThat(server.events).as(what).containsExactly("request");
    }

    /** A host with jumbo frames asks one without. */
    @Test
    void pathMtuAboveThePortsIsRefused() {
        for (Mtu asked : Mtu.values()) {
            for (Mtu mtu : Mtu.values()) {
                CmPeer port = new CmPeer(server.low, 7, mtu, CmBounds.DEFAULT);
                CmListener listener = port.manager.listen(CmPeer.SERVICE, 1);
                assertThat(listener).isNotNull();
                port.receive(pair.now, forged(50, HexFormat.of().toHexDigits((byte) (asked.code() << 4 | 5))));
                if (asked.bytes() <= mtu.bytes()) {
                    assertThat(port.events).containsExactly("request");
                    assertThat(port.request.pathMtu()).isEqualTo(asked);
                } else {
                    assertThat(port.events).isEmpty();
                    assertThat(Rej.reason(port.send().getFirst().segment(), 0)).isEqualTo(26);
                }
            }
        }
    }

    @Test
    void messagesNameTheDevice() {
        pair.connect();
        Datagram request = pair.lose(client, REQ).getFirst();
        assertThat(Req.caGuid(request.segment(), 0)).isEqualTo(CmPeer.GUID + client.low);
    }
}
