// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** A valid entry of a port's GID table (ibv_gid_entry). */
public record GidEntry(Gid gid, int index, int port, Type type, String networkInterface) {
    /** How packets that use the GID travel. */
    public enum Type {
        INFINIBAND,
        ROCE_V1,
        ROCE_V2,
        IWARP
    }
}
