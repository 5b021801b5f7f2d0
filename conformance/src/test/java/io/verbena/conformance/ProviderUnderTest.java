// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import io.verbena.verbs.DeviceContext;
import java.util.List;

/** Opens devices of one provider that reach each other. */
interface ProviderUnderTest {
    /** The column of the table. */
    String name();

    /** Two devices for one test. */
    Devices open();

    /** Whether devices have names that are listed, rather than being made where a program wants one. */
    boolean listsDevices();

    /** Whether a device works while the program does, rather than while it waits. */
    boolean worksBesideTheProgram();

    /** Two open devices and the names that open them. */
    interface Devices extends AutoCloseable {
        DeviceContext a();

        DeviceContext b();

        /** Names that can be opened while these two are open. */
        List<String> others();

        DeviceContext open(String name);

        /** Lets all that is under way arrive, where that takes no real time. */
        void settle();

        /** Ends what carried the devices, which are closed already. */
        @Override
        void close();
    }
}
