// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.lang.ArchRule;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * The rules between layers that the module system cannot keep, for the packages below {@code base}. (A parameter, so
 * that the rules can be tried on classes that break them.)
 */
record Architecture(String base) {

    /** The transport is a set of pure state machines: frames, time and seeds come in as arguments. */
    ArchRule transportDoesNoIo() {
        return rule(noClasses()
                .that()
                .resideInAPackage(in("transport"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net..", "java.nio.channels..", "java.nio.file..", "java.util.concurrent")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Thread.class, Executor.class)
                .because("transport does no I/O and starts no thread"));
    }

    ArchRule transportHasNoClock() {
        return rule(noClasses()
                .that()
                .resideInAPackage(in("transport"))
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Clock.class, Instant.class)
                .because("time is an argument, so that the simulator owns it"));
    }

    ArchRule transportIsDeterministic() {
        return rule(noClasses()
                .that()
                .resideInAPackage(in("transport"))
                .should()
                .dependOnClassesThat()
                .areAssignableTo(RandomGenerator.class)
                .orShould()
                .callMethod(Math.class, "random")
                .because("seeds are constructor arguments, so that a run can be repeated"));
    }

    ArchRule ibKnowsNoIwarp() {
        return apart("ib", "iwarp");
    }

    ArchRule iwarpKnowsNoIb() {
        return apart("iwarp", "ib");
    }

    /** A provider is found by its service; only tools for tests and measurements may name one. */
    ArchRule providersAreNotNamed() {
        return rule(noClasses()
                .that()
                .resideOutsideOfPackages(in("soft"), in("ibverbs"), in("sim"), in("bench"), in("conformance"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(in("soft"), in("ibverbs")));
    }

    ArchRule wireHasNoState() {
        return rule(fields().that()
                .areDeclaredInClassesThat()
                .resideInAPackage(in("wire"))
                .and()
                .areStatic()
                .should()
                .beFinal()
                .because("wire turns bytes into fields and back, and remembers nothing"));
    }

    ArchRule wireDoesNoIo() {
        return rule(noClasses()
                .that()
                .resideInAPackage(in("wire"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net..", "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Thread.class)
                .because("wire knows bytes only"));
    }

    /** Native access is granted to one module. */
    ArchRule onlyFfiCallsNativeCode() {
        return rule(noClasses()
                .that()
                .resideOutsideOfPackages(in("ffi"))
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class));
    }

    /** A library does not print. */
    ArchRule coreDoesNotPrint() {
        return rule(noClasses()
                .that()
                .resideInAnyPackage(PomRules.CORE.stream().map(this::in).toArray(String[]::new))
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err"));
    }

    private ArchRule apart(String one, String other) {
        return rule(noClasses()
                .that()
                .resideInAPackage(base + ".(*)." + one + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(base + ".(*)." + other + ".."));
    }

    private String in(String module) {
        return base + "." + module + "..";
    }

    private static ArchRule rule(ArchRule rule) {
        return rule.allowEmptyShould(true);
    }
}
