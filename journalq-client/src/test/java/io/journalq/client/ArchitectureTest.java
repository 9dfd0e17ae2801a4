package io.journalq.client;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Package dependencies of the client, and the border between its API and its internals. */
class ArchitectureTest {
    private static final String INTERNAL = "io.journalq.client.internal";

    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.journalq.client");
    }

    @Test
    void shouldFormNoCycleAmongPackages() {
        slices().matching("io.journalq.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void shouldDependOnlyOnCommonAndNetty() {
        noClasses()
                .should()
                .dependOnClassesThat(
                        not(resideInAnyPackage("io.journalq.client..", "io.journalq.common..", "io.netty..", "java..")))
                .because("applications embed the client, and each further library can conflict with one of theirs")
                .check(classes);
    }

    @Test
    void shouldNotExposeInternalTypesInSignaturesOfTheApi() {
        List<String> exposed = classes.stream()
                .filter(type -> !isInternal(type) && isPublic(type))
                .flatMap(type -> type.getCodeUnits().stream())
                .filter(unit -> unit.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(unit -> signature(unit).anyMatch(ArchitectureTest::isInternal))
                .map(JavaCodeUnit::getFullName)
                .toList();

        assertThat(exposed)
                .as("packages below %s are not documented and may change in any release", INTERNAL)
                .isEmpty();
    }

    private static Stream<JavaClass> signature(JavaCodeUnit unit) {
        return Stream.concat(unit.getRawParameterTypes().stream(), Stream.of(unit.getRawReturnType()));
    }

    private static boolean isInternal(JavaClass type) {
        return type.getPackageName().startsWith(INTERNAL);
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(ArchitectureTest::isPublic).orElse(true);
    }
}
