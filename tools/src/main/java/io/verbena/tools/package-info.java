// SPDX-License-Identifier: Apache-2.0
/** The command line program; every sub-command has a package of its own. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools;
