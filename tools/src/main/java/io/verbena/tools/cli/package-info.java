// SPDX-License-Identifier: Apache-2.0
/** What the sub-commands share: how failures are told, what is closed on Ctrl-C, sizes, progress, JSON. */
@org.jspecify.annotations.NullMarked
package io.verbena.tools.cli;
