package io.journalq.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which package of the command line may know which. */
class ArchitectureTest {
    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.journalq.cli");
    }

    @Test
    void shouldFormNoCycleAmongPackages() {
        slices().matching("io.journalq.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void shouldKnowTheServerOnlyWhereABrokersFilesProcessOrDecisionsAreTheSubject() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "io.journalq.cli.journal..", "io.journalq.cli.local..", "io.journalq.cli.access..")
                .should()
                .dependOnClassesThat(resideInAPackage("io.journalq.server.."))
                .because("commands of bin/journalq work against any broker that speaks the protocol; use the client")
                .check(classes);
    }
}
