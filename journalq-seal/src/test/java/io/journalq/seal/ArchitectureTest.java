package io.journalq.seal;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What the module may depend on. */
class ArchitectureTest {
    private final JavaClasses classes = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.journalq.seal");

    @Test
    void shouldUseOnlyTheApiOfTheClientAndTheCryptographyOfJava() {
        noClasses()
                .should()
                .dependOnClassesThat(not(resideInAnyPackage(
                        "io.journalq.seal",
                        "io.journalq.client",
                        "io.journalq.client.seal",
                        "io.journalq.client.error",
                        "io.journalq.client.admin",
                        "io.journalq.common.id",
                        "io.journalq.common.record",
                        "io.netty.buffer",
                        "java..",
                        "javax.crypto..",
                        "javax.net.ssl..")))
                .because("keys must not pass through other libraries, and the internals of the client may change")
                .check(classes);
    }
}
