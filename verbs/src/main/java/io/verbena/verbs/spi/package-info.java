// SPDX-License-Identifier: Apache-2.0
/** What a provider of the verbs API implements, and what providers share. */
@org.jspecify.annotations.NullMarked
package io.verbena.verbs.spi;
