// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.Gid;
import io.verbena.verbs.RdmaException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DevicePickerTest {
    private final List<String> tried = new ArrayList<>();

    private BiFunction<String, DeviceOptions, DeviceContext> opener(Set<String> taken) {
        return (name, options) -> {
            tried.add(name);
            if (taken.contains(name)) {
                throw new RdmaException(RdmaException.Reason.ADDRESS_IN_USE, name + " is taken");
            }
            return (DeviceContext) Proxy.newProxyInstance(
                    DeviceContext.class.getClassLoader(),
                    new Class<?>[] {DeviceContext.class},
                    (proxy, method, args) -> {
                        throw new UnsupportedOperationException(method.getName());
                    });
        };
    }

    @ParameterizedTest
    @CsvSource({
        // local, remote, device
        "127.0.0.1, 127.0.0.1, rocev2:127.0.0.1",
        "127.0.0.5, 127.0.0.1, rocev2:127.0.0.1",
        "::1, ::1, rocev2:127.0.0.1",
        "10.0.0.3, 10.0.0.3, rocev2:127.0.0.1",
        "10.0.0.3, 10.0.0.4, rocev2:10.0.0.3",
        "fd77::1, fd77::2, rocev2:fd77:0:0:0:0:0:0:1",
    })
    void theDeviceThatRoutesToThePeerIsOpened(String local, String remote, String device) throws Exception {
        DevicePicker.openFor(InetAddress.ofLiteral(local), InetAddress.ofLiteral(remote), opener(Set.of()));
        assertThat(tried).containsExactly(device);
    }

    @Test
    void theFirstFreeLoopbackAddressIsTaken() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        DevicePicker.openFor(loopback, loopback, opener(Set.of("rocev2:127.0.0.1", "rocev2:127.0.0.2")));
        assertThat(tried).containsExactly("rocev2:127.0.0.1", "rocev2:127.0.0.2", "rocev2:127.0.0.3");
    }

    @Test
    void aTakenAddressThatIsNotLoopbackIsAFailure() throws Exception {
        assertThatThrownBy(() -> DevicePicker.openFor(
                        InetAddress.ofLiteral("10.0.0.3"),
                        InetAddress.ofLiteral("10.0.0.4"),
                        opener(Set.of("rocev2:10.0.0.3"))))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("taken");
    }

    @Test
    void theSearchEnds() {
        BiFunction<String, DeviceOptions, DeviceContext> allTaken = (name, options) -> {
            tried.add(name);
            throw new RdmaException(RdmaException.Reason.ADDRESS_IN_USE, name + " is taken");
        };
        assertThatThrownBy(() -> DevicePicker.openLoopback(1, DeviceOptions.defaults(), allTaken))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("no loopback address is free");
        assertThat(tried).hasSize(DevicePicker.LOOPBACK_TRIES);
    }

    @Test
    void otherFailuresEndTheSearchAtOnce() {
        BiFunction<String, DeviceOptions, DeviceContext> denied = (name, options) -> {
            tried.add(name);
            throw new RdmaException(RdmaException.Reason.PERMISSION_DENIED, "not allowed");
        };
        assertThatThrownBy(() -> DevicePicker.openLoopback(1, DeviceOptions.defaults(), denied))
                .isInstanceOf(RdmaException.class)
                .hasMessage("not allowed");
        assertThat(tried).hasSize(1);
    }

    @Test
    void theZoneOfALinkLocalAddressIsNotPartOfTheName() throws Exception {
        InetAddress zoned = java.net.Inet6Address.getByAddress(
                null, InetAddress.ofLiteral("fe80::1").getAddress(), 1);
        assertThat(DevicePicker.deviceName(zoned)).isEqualTo("rocev2:fe80:0:0:0:0:0:0:1");
    }

    @Test
    void gidsBetweenWhichNothingTravelsAreRefused() throws Exception {
        Gid four = Gid.of(InetAddress.ofLiteral("10.0.0.1"));
        Gid six = Gid.of(InetAddress.ofLiteral("fd77::1"));
        DevicePicker.requireReachable(four, four, "p");
        DevicePicker.requireReachable(six, six, "p");
        assertThatThrownBy(() -> DevicePicker.requireReachable(four, Gid.ZERO, "10.0.0.9"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("10.0.0.9")
                .hasMessageContaining("-g 1");
        assertThatThrownBy(() -> DevicePicker.requireReachable(four, six, "10.0.0.9"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("IPv6")
                .hasMessageContaining("IPv4");
    }
}
