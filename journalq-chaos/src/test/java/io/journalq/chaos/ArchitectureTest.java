package io.journalq.chaos;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Package dependencies of the module. */
class ArchitectureTest {
    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.journalq.chaos");
    }

    @Test
    void shouldFormNoCycleAmongPackages() {
        slices().matching("io.journalq.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void shouldKnowOnlyTheProtocolInHostileLoads() {
        noClasses()
                .that()
                .resideInAPackage("io.journalq.chaos.hostile..")
                .should()
                .dependOnClassesThat(resideInAnyPackage("io.journalq.server..", "io.journalq.client.."))
                .because("a hostile client sends what no client library would send, to any broker; encode it with"
                        + " io.journalq.common.protocol")
                .check(classes);
    }

    @Test
    void shouldNotKnowTheSimulator() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage("io.journalq.sim.."))
                .because("chaos runs real processes on the real clock; what both need belongs to journalq-common")
                .check(classes);
    }
}
