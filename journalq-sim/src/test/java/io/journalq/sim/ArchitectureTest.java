package io.journalq.sim;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Package dependencies of the simulator, and what would make two runs of a seed differ. */
class ArchitectureTest {
    private static final String ROOT = "io.journalq.sim";
    private static final String[] SIMULATED = {
        ROOT + ".disk..",
        ROOT + ".world..",
        ROOT + ".workload..",
        ROOT + ".cluster..",
        ROOT + ".check..",
        ROOT + ".metadata.."
    };

    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(ROOT);
    }

    @Test
    void shouldFormNoCycleAmongPackages() {
        slices().matching("io.journalq.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void shouldKnowOnlyFilesInTheDisk() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".disk..")
                .should()
                .dependOnClassesThat(resideInAPackage("io.journalq..")
                        .and(not(resideInAnyPackage(ROOT + ".disk..", "io.journalq.server.journal.file.."))))
                .because("the disk stores bytes and does not know what is in them")
                .check(classes);
    }

    @Test
    void shouldReadNoClockAndNoUnseededRandomInASimulation() {
        noClasses()
                .that()
                .resideInAnyPackage(SIMULATED)
                .and()
                .doNotHaveFullyQualifiedName(ROOT + ".world.SimThread") // lets only one thread run at any time
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(UUID.class, "randomUUID")
                .orShould()
                .callMethod(Math.class, "random")
                .orShould()
                .callConstructor(Random.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(ThreadLocalRandom.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(Thread.class)
                .because("everything in a simulation must follow from its seed; take time from the Scheduler, and"
                        + " numbers from the Random of the simulation")
                .check(classes);
    }
}
