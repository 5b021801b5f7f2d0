// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** What a queue pair was granted (ibv_qp_cap). */
public record QueuePairCapabilities(
        int maxSendWr, int maxReceiveWr, int maxSendSge, int maxReceiveSge, int maxInlineData) {}
