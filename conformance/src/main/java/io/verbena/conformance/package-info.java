/**
 * The conformance suite: the catalogue of behaviours, and the table of what a run found. The tests themselves are this
 * module's tests; each names the behaviours that it tries, and runs on every provider.
 */
@org.jspecify.annotations.NullMarked
package io.verbena.conformance;
