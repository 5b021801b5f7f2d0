/**
 * Checks on the sources, build files and classes of every module: what the compiler, the formatter and the module
 * system leave open. Each rule is itself tested on something that breaks it.
 */
package io.verbena.tidy;
