// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.Resources;
import io.verbena.tools.sideband.CmSideband;
import io.verbena.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Queue pairs that the connection manager connects, beside a sideband that is a connection too. */
interface ManagedSource extends QueuePairSource {
    CmSideband sideband();

    @Override
    default DestinationForm form() {
        return DestinationForm.STRUCT;
    }

    @Override
    default boolean connects() {
        return true;
    }

    @Override
    default ProtectionDomain domain(Resources resources) {
        return sideband().connection().protectionDomain();
    }

    /** Whether it is the sideband's peer who asks; strangers are refused. */
    default boolean isPeer(@Nullable InetSocketAddress asking) {
        InetSocketAddress peer = sideband().connection().remoteAddress();
        return asking != null && peer != null && asking.getAddress().equals(peer.getAddress());
    }
}
