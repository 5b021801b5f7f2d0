// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The value types of the API: parsing, ranges, and codes that libibverbs shares. */
class ValuesTest {
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 00000000000000000000ffff7f000001",
        "255.255.255.255, 00000000000000000000ffffffffffff",
        "::1, 00000000000000000000000000000001",
        "fe80::1:2, fe800000000000000000000000010002"
    })
    void aGidIsTheAddressInNetworkOrder(String address, String hex) {
        Gid gid = Gid.of(InetAddress.ofLiteral(address));
        assertThat(gid.toHex()).isEqualTo(hex);
        assertThat(Gid.ofHex(hex)).isEqualTo(gid);
        assertThat(gid.toAddress()).isEqualTo(InetAddress.ofLiteral(address));
        assertThat(gid.isIpv4()).isEqualTo(address.contains("."));
        assertThat(gid.isZero()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0000000000000000000000000000000g", "000000000000000000000000000000000"})
    void whatIsNoGidIsMisuse(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Gid.ofHex(text));
    }

    @Test
    void anEndpointIsTheLineOfIbvRcPingpong() {
        Gid gid = Gid.ofHex("00000000000000000000ffff7f000001");
        QueuePairEndpoint endpoint = new QueuePairEndpoint(0, 0x00abcd, 0xfffffe, gid);
        String line = "0000:00abcd:fffffe:00000000000000000000ffff7f000001";
        assertThat(endpoint).hasToString(line);
        assertThat(QueuePairEndpoint.parse(line)).isEqualTo(endpoint);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":::",
                "0000:00abcd:fffffe",
                "00000:0abcd:fffffe:00000000000000000000ffff7f000001",
                "0000:0abcd:ffffffe:00000000000000000000ffff7f000001",
                "0000:00abcd:fffffe:0000000000000000:000ffff7f000001",
                "0000:00abcz:fffffe:00000000000000000000ffff7f000001",
                "0000:00abcd:fffffe:00000000000000000000ffff7f000001:"
            })
    void whatIsNoEndpointIsMisuse(String line) {
        assertThatIllegalArgumentException().isThrownBy(() -> QueuePairEndpoint.parse(line));
    }

    @ParameterizedTest
    @EnumSource
    void mtusGoByBytesAndByCode(Mtu mtu) {
        assertThat(Mtu.ofCode(mtu.code())).isEqualTo(mtu);
        assertThat(Mtu.ofBytes(mtu.bytes())).isEqualTo(mtu);
        assertThat(mtu.bytes()).isEqualTo(128 << mtu.code());
        assertThat(Mtu.atMost(mtu.bytes() + 1)).isEqualTo(mtu);
    }

    @Test
    void whatIsNoMtuIsMisuse() {
        for (int code : new int[] {0, 6, -1}) {
            assertThatIllegalArgumentException().isThrownBy(() -> Mtu.ofCode(code));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> Mtu.ofBytes(1500));
        assertThat(Mtu.atMost(10)).isEqualTo(Mtu.MTU_256);
    }

    @Test
    void codesAreThoseOfLibibverbs() {
        assertThat(WorkCompletionStatus.WR_FLUSH_ERR.code()).isEqualTo(5);
        assertThat(WorkCompletionStatus.REM_ACCESS_ERR.code()).isEqualTo(10);
        assertThat(WorkCompletionStatus.RETRY_EXC_ERR.code()).isEqualTo(12);
        assertThat(WorkCompletionStatus.RNR_RETRY_EXC_ERR.code()).isEqualTo(13);
        assertThat(WorkCompletionStatus.GENERAL_ERR.code()).isEqualTo(21);
        for (WorkCompletionStatus status : WorkCompletionStatus.values()) {
            assertThat(WorkCompletionStatus.ofCode(status.code())).isEqualTo(status);
        }
        assertThat(WorkCompletionOpcode.RECV.code()).isEqualTo(128);
        assertThat(WorkCompletionOpcode.RECV_RDMA_WITH_IMM.code()).isEqualTo(129);
        assertThat(QueuePairState.ERR.ordinal()).isEqualTo(6);
        assertThat(AccessFlag.mask(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC))
                .isEqualTo(9);
        assertThat(SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED | SendFlags.INLINE)
                .isEqualTo(15);
    }

    @Test
    void attributesCheckTheirRangeAndRememberWhatWasSet() {
        QueuePairAttributes attributes = new QueuePairAttributes();
        assertThat(attributes.mask()).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> attributes.sqPsn(1 << 24))
                .withMessageContaining("sqPsn is 16777216");
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.rqPsn(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.timeout(32));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.retryCount(8));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.rnrRetry(8));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.minRnrTimer(32));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.destinationQpNumber(1 << 24));
        assertThat(attributes.mask()).isEmpty();
        attributes.timeout(31).rnrRetry(7);
        assertThat(attributes.mask())
                .containsExactlyInAnyOrder(QueuePairAttribute.TIMEOUT, QueuePairAttribute.RNR_RETRY);
        QueuePairAttributes overridden = new QueuePairAttributes().timeout(1).overriddenBy(attributes);
        assertThat(overridden.timeout()).isEqualTo(31);
        assertThat(overridden.mask()).containsExactly(QueuePairAttribute.TIMEOUT);
    }

    @Test
    void aCompletionWithoutImmediateDoesNotMakeOneUp() {
        WorkCompletion completion = new WorkCompletion();
        completion.set(1, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECV, 0, 8, 77, 5, 6, 0, 9);
        assertThat(completion.byteLength()).isEqualTo(8);
        assertThat(completion.sourceQp()).isEqualTo(6);
        assertThatIllegalStateException().isThrownBy(completion::immediate);
        assertThatIllegalStateException().isThrownBy(completion::invalidatedKey);
        assertThat(completion.orThrow()).isSameAs(completion);
    }

    @Test
    void aReusedRequestForgetsWhatItWasBefore() {
        SendRequest request = new SendRequest(queuePair());
        request.compareAndSwap(1, 2, 3, 4).sge(10, 8, 5).id(6).solicited().fence();
        for (int i = 0; i < 9; i++) {
            request.sge(100 + i, i, i);
        }
        assertThat(request.sgeCount()).isEqualTo(10);
        assertThat(request.sgeAddress(9)).isEqualTo(108);
        request.inline(MemorySegment.ofArray(new byte[1]));
        request.send();
        assertThat(request.opcode()).isEqualTo(SendOpcode.SEND);
        assertThat(request.sgeCount()).isZero();
        assertThat(request.flags()).isZero();
        assertThat(request.wrId()).isZero();
        assertThat(request.inlineData()).isNull();
        assertThat(request.remoteAddress()).isZero();
        assertThat(request.swap()).isZero();
    }

    @Test
    void inlineSurvivesTheFlagsSetAfterIt() {
        SendRequest request = new SendRequest(queuePair());
        request.send().inline(MemorySegment.ofArray(new byte[1])).flags(SendFlags.SIGNALED);
        assertThat(request.flags()).isEqualTo(SendFlags.SIGNALED | SendFlags.INLINE);
        request.send().flags(SendFlags.SIGNALED);
        assertThat(request.flags()).isEqualTo(SendFlags.SIGNALED);
    }

    /** A queue pair that nothing is asked of. */
    private static QueuePair queuePair() {
        InvocationHandler nothing = (proxy, method, arguments) -> {
            throw new UnsupportedOperationException(method.getName());
        };
        return (QueuePair)
                Proxy.newProxyInstance(QueuePair.class.getClassLoader(), new Class<?>[] {QueuePair.class}, nothing);
    }

    @Test
    void aDeviceNobodyOffersIsNotFound() {
        RdmaException e = org.assertj.core.api.Assertions.catchThrowableOfType(
                RdmaException.class, () -> Devices.open("foo:bar"));
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.NOT_FOUND);
        assertThat(e).hasMessageContaining("foo:bar");
    }
}
