// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Runs a class of tests on each provider and records what it finds. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ParameterizedClass(name = "{0}")
@ArgumentsSource(OnEveryProvider.Providers.class)
@ExtendWith(Recorder.class)
@interface OnEveryProvider {
    /** The providers, in the order of the table's columns. */
    final class Providers implements ArgumentsProvider {
        static final List<ProviderUnderTest> ALL = List.of(new SoftProvider(), new SimulatedProvider());

        static List<String> names() {
            return ALL.stream().map(ProviderUnderTest::name).toList();
        }

        @Override
        public Stream<Arguments> provideArguments(
                ParameterDeclarations parameters, org.junit.jupiter.api.extension.ExtensionContext context) {
            return ALL.stream().map(provider -> Arguments.argumentSet(provider.name(), provider));
        }
    }
}
