// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;

/** What a test can choose about a queue pair; everything has a default, so what a test sets matters to it. */
final class Settings {
    QueuePairType type = QueuePairType.RC;
    SharedReceives shared;
    int xrcDomain;

    static final int MAX_SGE = 6;
    static final int MAX_INLINE = 200;

    Mtu mtu = Mtu.MTU_1024;
    int sqPsn = 0x1000;
    int rqPsn = 0x2000;
    int timeout = 14;
    int retryCount = 7;
    int rnrRetry = 7;
    int maxRdAtomic = 4;
    int maxDestRdAtomic = 4;
    int minRnrTimer = 12;
    int qkey = 0x1111_1111;
    int accessFlags = TestHost.ALL;
    int sendDepth = 16;
    int receiveDepth = 16;
    int ringDepth = 64;
    boolean signalAll;
}
