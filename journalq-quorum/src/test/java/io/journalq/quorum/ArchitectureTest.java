package io.journalq.quorum;

import static com.tngtech.archunit.base.DescribedPredicate.not;
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
    private static final String ROOT = "io.journalq.quorum";

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
    void shouldKnowOnlyTheMetadataLogAndJournalsOfTheServer() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage("io.journalq.server..")
                        .and(not(resideInAnyPackage("io.journalq.server.control", "io.journalq.server.journal.."))))
                .because("the quorum orders records, and does not know what is in them")
                .check(classes);
    }

    @Test
    void shouldTakeFromRatisNoCopyOfAnotherLibraryThanProtobufAndGrpc() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage("org.apache.ratis.thirdparty..")
                        .and(not(resideInAnyPackage(
                                "org.apache.ratis.thirdparty.com.google.protobuf..",
                                "org.apache.ratis.thirdparty.io.grpc.."))))
                .because("they are details of Ratis; use the project's own Netty and no Guava")
                .check(classes);
    }
}
