package io.journalq.bench;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.journalq.server.process.LoopbackPorts;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which package of the benchmarks may depend on which. */
class ArchitectureTest {
    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.journalq.bench");
    }

    @Test
    void shouldFormNoCycleAmongPackages() {
        slices().matching("io.journalq.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void shouldKnowTheServerOnlyWhereItIsStartedOrMeasuredByItself() {
        noClasses()
                .that()
                .resideOutsideOfPackages("io.journalq.bench.driver..", "io.journalq.bench.jmh..")
                .should()
                .dependOnClassesThat(resideInAPackage("io.journalq.server..").and(not(type(LoopbackPorts.class))))
                .because("scenarios measure any broker; use a driver. Every broker has ports")
                .check(classes);
    }

    @Test
    void shouldNotKnowTheCommandLineWhereBrokersAreDrivenOrMeasured() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.journalq.bench.compare..",
                        "io.journalq.bench.driver..",
                        "io.journalq.bench.load..",
                        "io.journalq.bench.measure..",
                        "io.journalq.bench.payload..",
                        "io.journalq.bench.peer..",
                        "io.journalq.bench.produce..",
                        "io.journalq.bench.traffic..")
                .should()
                .dependOnClassesThat(resideInAPackage("picocli.."))
                .because("commands parse their options and pass values on")
                .check(classes);
    }
}
