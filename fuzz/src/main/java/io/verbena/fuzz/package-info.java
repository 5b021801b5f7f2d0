// SPDX-License-Identifier: Apache-2.0
/** For tests only: finds the fuzz targets beside a test and replays their corpus; reads an input as a program. */
@NullMarked
package io.verbena.fuzz;

import org.jspecify.annotations.NullMarked;
