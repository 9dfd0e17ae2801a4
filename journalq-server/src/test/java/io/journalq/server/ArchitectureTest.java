package io.journalq.server;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which package may know which, and what the pure packages may not touch. */
class ArchitectureTest {
    private static final String ROOT = "io.journalq.server.";

    /** For each package, the packages of the server that it may use besides itself; a new one is added here first. */
    private static final Map<String, List<String>> ALLOWED = new TreeMap<>(Map.ofEntries(
            Map.entry("config", List.of()),
            Map.entry("journal", List.of()),
            Map.entry("directory", List.of("journal", "loop")),
            Map.entry("loop", List.of()),
            Map.entry("memory", List.of()),
            Map.entry("producerstate", List.of("memory")),
            Map.entry("replication", List.of()),
            Map.entry("coordinator", List.of()),
            Map.entry("group", List.of("coordinator", "memory")),
            Map.entry("transaction", List.of("coordinator", "memory")),
            Map.entry("store", List.of()),
            // Topic settings are checked by the same registry that reads them.
            Map.entry("metadata", List.of("config", "memory")),
            Map.entry("network", List.of("loop")),
            Map.entry("peer", List.of("loop")),
            Map.entry("security", List.of("metadata")),
            Map.entry("control", List.of("config", "journal", "metadata")),
            Map.entry(
                    "shard",
                    List.of(
                            "config",
                            "control",
                            "coordinator",
                            "group",
                            "journal",
                            "loop",
                            "memory",
                            "metadata",
                            "peer",
                            "producerstate",
                            "replication",
                            "store",
                            "transaction")),
            Map.entry(
                    "api",
                    List.of(
                            "config",
                            "control",
                            "coordinator",
                            "group",
                            "journal",
                            "loop",
                            "memory",
                            "metadata",
                            "network",
                            "peer",
                            "security",
                            "producerstate",
                            "shard",
                            "transaction")),
            Map.entry("gateway", List.of("api", "config", "filter", "loop", "metadata", "network", "security")),
            Map.entry("observe", List.of("loop", "memory", "network")),
            Map.entry("process", List.of("broker", "config", "directory")),
            Map.entry(
                    "broker",
                    List.of(
                            "api",
                            "config",
                            "control",
                            "coordinator",
                            "directory",
                            "gateway",
                            "group",
                            "journal",
                            "loop",
                            "memory",
                            "metadata",
                            "network",
                            "observe",
                            "peer",
                            "producerstate",
                            "replication",
                            "security",
                            "shard",
                            "store",
                            "transaction"))));

    private static final String[] PURE = {
        ROOT + "producerstate..",
        ROOT + "replication..",
        ROOT + "coordinator..",
        ROOT + "group..",
        ROOT + "transaction..",
        ROOT + "metadata.."
    };

    private static final String[] PARTITION_PARTS = {
        ROOT + "shard.partition", ROOT + "shard.append", ROOT + "shard.flush", ROOT + "shard.read"
    };

    /** A slice for each class, with its nested ones, of the packages that a produce or a fetch passes. */
    private static final SliceAssignment EACH_CLASS_WHERE_REQUESTS_PASS = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            JavaClass outermost = type;
            while (outermost.getEnclosingClass().isPresent()) {
                outermost = outermost.getEnclosingClass().get();
            }
            String name = outermost.getPackageName() + ".";
            boolean passed = name.equals(ROOT + "api.data.")
                    || name.equals(ROOT + "broker.")
                    || name.startsWith(ROOT + "shard.")
                    || name.equals(ROOT + "journal.");
            return passed ? SliceIdentifier.of(outermost.getName()) : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "classes of api.data, broker, shard and journal";
        }
    };

    private static final String[] WITH_EFFECTS = {
        "java.util.concurrent..",
        "java.net..",
        "java.nio.channels..",
        "java.nio.file..",
        "io.netty.channel..",
        "io.netty.bootstrap..",
        "io.netty.util.concurrent..",
        "io.micrometer.."
    };

    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.journalq.server");
    }

    static Set<String> packages() {
        return ALLOWED.keySet();
    }

    @Test
    void shouldListEveryPackageWhenOneIsAdded() {
        Set<String> present = new TreeSet<>();
        classes.forEach(type -> {
            String name = type.getPackageName() + ".";
            present.add(name.substring(ROOT.length(), name.indexOf('.', ROOT.length())));
        });

        assertThat(ALLOWED.keySet())
                .as("ALLOWED in ArchitectureTest says what each package may use; add the new package to it")
                .containsAll(present);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void shouldUseOnlyAllowedPackages(String name) {
        String[] allowed = Stream.concat(Stream.of(name), ALLOWED.get(name).stream())
                .map(other -> ROOT + other + "..")
                .toArray(String[]::new);

        noClasses()
                .that()
                .resideInAPackage(ROOT + name + "..")
                .should()
                .dependOnClassesThat(resideInAPackage("io.journalq.server..").and(not(resideInAnyPackage(allowed))))
                .because(name + " may use " + (ALLOWED.get(name).isEmpty() ? "no other package" : ALLOWED.get(name))
                        + "; let it declare an interface that its user implements, or change ALLOWED with a reason")
                .allowEmptyShould(true)
                .check(classes);
    }

    @Test
    void shouldKnowNoJournalInTheJournalsParts() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "journal.*..")
                .should()
                .dependOnClassesThat(resideInAPackage(ROOT + "journal"))
                .because("a journal is put together from its parts; let a part declare what it needs of the journal, as"
                        + " CompactedLog does")
                .check(classes);
    }

    @Test
    void shouldFormNoCycleAmongPackagesAndTheirParts() {
        slices().matching(ROOT + "(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void shouldCallNoClassBackWhereRequestsPass() {
        slices().assignedFrom(EACH_CLASS_WHERE_REQUESTS_PASS)
                .should()
                .beFreeOfCycles()
                .because(
                        "a class is called from above and calls below: let the lower class declare an interface for what"
                                + " it reports, as PartitionDurability.Listener does")
                .check(classes);
    }

    @Test
    void shouldKnowNoShardInAPartitionsParts() {
        noClasses()
                .that()
                .resideInAnyPackage(PARTITION_PARTS)
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                        ROOT + "shard",
                        ROOT + "shard.coordinator..",
                        ROOT + "shard.compaction..",
                        ROOT + "shard.metadata.."))
                .because(
                        "a shard holds partitions, and a partition is put together from its parts: let a part declare what"
                                + " it needs, as PartitionDurability.Listener does")
                .check(classes);
    }

    @Test
    void shouldFollowTheControllerOnlyWhereMetadataIsApplied() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "shard..")
                .and()
                .resideOutsideOfPackage(ROOT + "shard.metadata")
                .should()
                .dependOnClassesThat(resideInAPackage(ROOT + "control.."))
                .because("a shard is told what to open and delete; it does not ask the controller")
                .check(classes);
    }

    @Test
    void shouldKnowGroupsAndTransactionsOnlyInTheirCoordinators() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "shard..")
                .and()
                .resideOutsideOfPackages(ROOT + "shard.coordinator.group", ROOT + "shard.coordinator.transaction")
                .should()
                .dependOnClassesThat(resideInAnyPackage(ROOT + "group..", ROOT + "transaction.."))
                .because("shards run machines without knowing what these coordinate")
                .check(classes);
    }

    @Test
    void shouldKnowTlsOnlyWhereListenersArePutTogether() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT + "network.tls", ROOT + "broker")
                .should()
                .dependOnClassesThat(resideInAPackage(ROOT + "network.tls"))
                .because("a protocol asks the Transport of its connection, whatever that is")
                .check(classes);
    }

    @Test
    void shouldKnowNoClientAndNoCommandLine() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage("io.journalq.client..", "io.journalq.cli..", "picocli.."))
                .because("the broker does not talk to itself as a client; ask the package that owns the response")
                .check(classes);
    }

    @Test
    void shouldKnowNoQuorum() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage("io.journalq.quorum..", "org.apache.ratis.."))
                .because("a single broker runs without a quorum; use control.MetadataLog, which both implement")
                .check(classes);
    }

    @Test
    void shouldTouchNoThreadsFilesOrSocketsWhenPure() {
        withoutEffects(PURE).check(classes);
    }

    @Test
    void shouldReadNoClockAndNoUnseededRandomWhenPure() {
        deterministic(PURE).check(classes);
    }

    @Test
    void shouldIterateInAFixedOrderWhenPure() {
        ordered(PURE).check(classes);
    }

    @ParameterizedTest
    @CsvSource({
        "Clocked, nowMs",
        "Randomised, seeded Random",
        "Identified, seeded Random",
    })
    void shouldNameTheReplacementWhenAPureClassIsNotDeterministic(String offender, String replacement) {
        assertFound(deterministic("io.journalq.server"), offender, replacement);
    }

    @ParameterizedTest
    @CsvSource({"Salted, LinkedHashMap", "SaltedSet, LinkedHashMap", "Hashed, LinkedHashMap", "HashedSet, TreeMap"})
    void shouldNameTheReplacementWhenAPureClassIteratesInASaltedOrder(String offender, String replacement) {
        assertFound(ordered("io.journalq.server"), offender, replacement);
    }

    @Test
    void shouldNameTheReplacementWhenAPureClassStartsAThread() {
        assertFound(withoutEffects("io.journalq.server"), "Threaded", "Outbox");
    }

    private static void assertFound(ArchRule rule, String offender, String replacement) {
        Class<?> type = Arrays.stream(ArchitectureTest.class.getDeclaredClasses())
                .filter(nested -> nested.getSimpleName().equals(offender))
                .findFirst()
                .orElseThrow();
        JavaClasses only = new ClassFileImporter().importClasses(type);

        assertThatThrownBy(() -> rule.check(only))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(offender)
                .hasMessageContaining(replacement);
    }

    private static ArchRule withoutEffects(String... packages) {
        return noClasses()
                .that()
                .resideInAnyPackage(packages)
                .should()
                .dependOnClassesThat(resideInAnyPackage(WITH_EFFECTS)
                        .or(assignableTo(Thread.class))
                        .or(assignableTo("java.io.InputStream"))
                        .or(assignableTo("java.io.OutputStream")))
                .because(
                        "a pure package has no thread, file, channel or event loop; take inputs as calls of on...(input,"
                                + " nowMs) and hand effects to an Outbox that the package declares")
                .allowEmptyShould(true);
    }

    private static ArchRule deterministic(String... packages) {
        return noClasses()
                .that()
                .resideInAnyPackage(packages)
                .should()
                .callCodeUnitWhere(call(System.class, "currentTimeMillis")
                        .or(call(System.class, "nanoTime"))
                        .or(call(UUID.class, "randomUUID"))
                        .or(call(Math.class, "random"))
                        .or(unseededRandom())
                        .or(callOnOwner("java.time.", "now")))
                .because("what a pure package does must follow from its inputs; pass time as nowMs, and take a seeded"
                        + " Random or finished ids from the caller")
                .allowEmptyShould(true);
    }

    private static ArchRule ordered(String... packages) {
        return noClasses()
                .that()
                .resideInAnyPackage(packages)
                .should()
                .callCodeUnitWhere(constructed(HashMap.class)
                        .or(constructed(HashSet.class))
                        .or(saltedFactory(Map.class))
                        .or(saltedFactory(Set.class)))
                .because(
                        "salted iteration differs between runs; use a LinkedHashMap, TreeMap, LinkedHashSet, TreeSet or"
                                + " List, or an empty Map.of() or Set.of()")
                .allowEmptyShould(true);
    }

    private static DescribedPredicate<JavaCall<?>> call(Class<?> owner, String name) {
        return DescribedPredicate.describe(
                owner.getSimpleName() + "." + name,
                call -> isOn(call, owner) && call.getTarget().getName().equals(name));
    }

    private static DescribedPredicate<JavaCall<?>> callOnOwner(String ownerPrefix, String name) {
        return DescribedPredicate.describe(
                ownerPrefix + "*." + name,
                call -> call.getTargetOwner().getName().startsWith(ownerPrefix)
                        && call.getTarget().getName().equals(name));
    }

    private static DescribedPredicate<JavaCall<?>> unseededRandom() {
        return DescribedPredicate.describe(
                "new Random()",
                call -> isOn(call, Random.class)
                        && isConstructor(call)
                        && call.getTarget().getRawParameterTypes().isEmpty());
    }

    private static DescribedPredicate<JavaCall<?>> constructed(Class<?> owner) {
        return DescribedPredicate.describe(
                "new " + owner.getSimpleName(), call -> isOn(call, owner) && isConstructor(call) && !isSuperCall(call));
    }

    /** An empty one has no order. */
    private static DescribedPredicate<JavaCall<?>> saltedFactory(Class<?> owner) {
        List<String> names = List.of("of", "ofEntries", "copyOf");
        return DescribedPredicate.describe(
                owner.getSimpleName() + ".of",
                call -> isOn(call, owner)
                        && names.contains(call.getTarget().getName())
                        && !call.getTarget().getRawParameterTypes().isEmpty());
    }

    private static boolean isOn(JavaCall<?> call, Class<?> owner) {
        return call.getTargetOwner().isEquivalentTo(owner);
    }

    private static boolean isConstructor(JavaCall<?> call) {
        CodeUnitCallTarget target = call.getTarget();
        return target.getName().equals("<init>");
    }

    /** A subclass's constructor calls its parent's: LinkedHashMap's children are ordered all the same. */
    private static boolean isSuperCall(JavaCall<?> call) {
        JavaClass origin = call.getOriginOwner();
        return origin.isAssignableTo(call.getTargetOwner().getName());
    }

    // What the rules must find, each once.

    static final class Clocked {
        long now() {
            return System.currentTimeMillis();
        }
    }

    static final class Randomised {
        Random random() {
            return new Random();
        }
    }

    static final class Identified {
        UUID id() {
            return UUID.randomUUID();
        }
    }

    static final class Salted {
        Map<String, String> map() {
            return Map.of("a", "b");
        }
    }

    static final class SaltedSet {
        Set<String> set() {
            return Set.of("a", "b");
        }
    }

    static final class Hashed {
        Map<String, String> map() {
            return new HashMap<>();
        }
    }

    static final class HashedSet {
        Set<String> set() {
            return new HashSet<>();
        }
    }

    static final class Threaded {
        Thread thread() {
            return new Thread(() -> {});
        }
    }
}
