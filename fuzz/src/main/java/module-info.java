// SPDX-License-Identifier: Apache-2.0
/** For tests only: fuzz targets, how their inputs are read and how their corpus is replayed. */
module verbena.fuzz {
    requires static org.jspecify;

    exports io.verbena.fuzz;
}
