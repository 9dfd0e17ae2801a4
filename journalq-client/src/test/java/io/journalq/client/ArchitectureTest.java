package io.journalq.client;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Method;
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
                .dependOnClassesThat(not(resideInAnyPackage(
                        "io.journalq.client..", "io.journalq.common..", "io.netty..", "java..", "javax.net.ssl")))
                .because("applications embed the client, and each further library can conflict with one of theirs")
                .check(classes);
    }

    @Test
    void shouldNotExposeInternalTypesInSignaturesOfTheApi() {
        List<String> exposed = Stream.concat(
                        api().filter(type -> supertypes(type).anyMatch(ArchitectureTest::isInternal))
                                .map(JavaClass::getFullName),
                        api().flatMap(type -> type.getMembers().stream())
                                .filter(ArchitectureTest::isVisible)
                                .filter(member -> signature(member).anyMatch(ArchitectureTest::isInternal))
                                .map(JavaMember::getFullName))
                .toList();

        assertThat(exposed)
                .as("packages below %s are not documented and may change in any release", INTERNAL)
                .isEmpty();
    }

    @Test
    void shouldTakeAndReturnDurationsAsDuration() {
        List<String> numbers = api().flatMap(type -> type.getMethods().stream())
                .filter(ArchitectureTest::isVisible)
                .map(JavaMethod::reflect)
                .filter(method -> isNumberOfMillis(method.getReturnType(), method.getName())
                        || Stream.of(method.getParameters())
                                .anyMatch(parameter -> isNumberOfMillis(parameter.getType(), parameter.getName()))
                        || (method.getName().endsWith("Ms")
                                && !method.getName().endsWith("timestampMs")
                                && method.getParameterCount() > 0))
                .map(Method::toString)
                .toList();

        assertThat(numbers)
                .as("a timestamp is a long in milliseconds, but a duration is a java.time.Duration")
                .isEmpty();
    }

    private static boolean isNumberOfMillis(Class<?> type, String name) {
        return type == int.class && name.endsWith("Ms");
    }

    private static Stream<JavaClass> api() {
        return classes.stream().filter(type -> !isInternal(type) && isPublic(type));
    }

    private static boolean isVisible(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static Stream<JavaClass> supertypes(JavaClass type) {
        return Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
                .flatMap(supertype -> supertype.getAllInvolvedRawTypes().stream());
    }

    private static Stream<JavaClass> signature(JavaMember member) {
        if (member instanceof JavaField field) {
            return field.getType().getAllInvolvedRawTypes().stream();
        }
        JavaCodeUnit unit = (JavaCodeUnit) member;
        Stream<JavaType> types = Stream.concat(unit.getParameterTypes().stream(), Stream.of(unit.getReturnType()));
        return Stream.concat(
                types.flatMap(type -> type.getAllInvolvedRawTypes().stream()), unit.getExceptionTypes().stream());
    }

    private static boolean isInternal(JavaClass type) {
        return type.getPackageName().startsWith(INTERNAL);
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(ArchitectureTest::isPublic).orElse(true);
    }
}
