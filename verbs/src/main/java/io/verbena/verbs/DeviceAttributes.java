// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Set;

/**
 * Limits and identity of a device (ibv_device_attr; IBTA volume 1, 11.2.1.2). All counts are per device unless said.
 *
 * @param nodeGuid 64-bit identity of the node
 * @param systemImageGuid 64-bit identity of the system
 * @param vendorId IEEE OUI of the vendor
 * @param firmwareVersion the provider's version
 * @param maxMrSize bytes of the largest region
 * @param pageSizeCap supported page sizes, a bit set
 * @param maxQpWr work requests of one send or receive queue
 * @param maxSge scatter/gather entries of a work request
 * @param maxInlineData bytes of the largest inline payload
 * @param maxQpRdAtomic READs and atomics outstanding at one queue pair as responder
 * @param maxQpInitRdAtomic READs and atomics outstanding at one queue pair as requester
 * @param maxSrq shared receive queues
 * @param maxSrqWr receives of one shared receive queue
 * @param maxSrqSge scatter/gather entries of a receive in one
 * @param maxMw memory windows
 * @param maxAh address handles
 * @param maxXrcDomains XRC domains
 * @param maxMulticastGroups multicast groups with queue pairs attached
 * @param maxMulticastQps queue pairs attached to one group
 * @param localAckDelay the longest the device takes to answer: 4.096 us * 2^value
 * @param capabilities what not every device has
 */
public record DeviceAttributes(
        long nodeGuid,
        long systemImageGuid,
        int vendorId,
        int vendorPartId,
        int hardwareVersion,
        String firmwareVersion,
        long maxMrSize,
        long pageSizeCap,
        int maxQp,
        int maxQpWr,
        int maxSge,
        int maxInlineData,
        int maxCq,
        int maxCqe,
        int maxMr,
        int maxPd,
        int maxQpRdAtomic,
        int maxQpInitRdAtomic,
        int maxSrq,
        int maxSrqWr,
        int maxSrqSge,
        int maxMw,
        int maxAh,
        int maxXrcDomains,
        int maxMulticastGroups,
        int maxMulticastQps,
        int maxPkeys,
        int localAckDelay,
        AtomicCapability atomicCapability,
        int physicalPorts,
        Set<DeviceCapability> capabilities) {

    public DeviceAttributes {
        capabilities = Set.copyOf(capabilities);
    }

    public boolean can(DeviceCapability capability) {
        return capabilities.contains(capability);
    }

    /** To what extent atomics are atomic (IBTA volume 1, 9.4.5). */
    public enum AtomicCapability {
        NONE,
        /** Atomic among operations of this device. */
        HCA,
        /** Atomic also against the host's own atomic instructions. */
        GLOBAL
    }
}
