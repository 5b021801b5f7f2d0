// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The lines of the catalogue that a test tries. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Conforms {
    String[] value();
}
