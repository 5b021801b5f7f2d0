// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.spi;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The providers on the module path or class path. */
public final class Providers {
    private Providers() {}

    public static List<VerbsProvider> all() {
        List<VerbsProvider> all = new ArrayList<>();
        ServiceLoader.load(VerbsProvider.class, Providers.class.getClassLoader())
                .forEach(all::add);
        return all;
    }

    /** The provider that the connection manager uses when no device is named. */
    public static VerbsProvider first() {
        return all().stream()
                .findFirst()
                .orElseThrow(() -> new RdmaException(
                        RdmaException.Reason.NOT_FOUND,
                        "no provider of RDMA devices is on the module path; add verbena.soft"));
    }

    /** The provider of an open device. */
    public static VerbsProvider of(DeviceContext device) {
        return all().stream()
                .filter(provider -> provider.owns(device))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(device + " is of no provider"));
    }
}
