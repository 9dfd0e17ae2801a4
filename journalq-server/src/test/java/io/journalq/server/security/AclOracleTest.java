package io.journalq.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclDecision;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Authorizer.Asker;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Random sets of ACLs: {@link Authorizer} decides as Kafka's StandardAuthorizer does, on every question. */
class AclOracleTest {
    private static final Logger log = LoggerFactory.getLogger(AclOracleTest.class);

    private static final int FEW_SETS = 20_000;
    private static final int MANY_SETS = 1_000_000;
    private static final int MAX_ACLS_OF_A_SET = 7;
    private static final int QUESTIONS_FOR_A_SET = 6;

    private static final String SUPER_USER = "User:root";
    private static final List<String> PRINCIPALS = List.of("User:ada", "User:bob", SUPER_USER);
    private static final List<String> RULE_PRINCIPALS =
            List.of("User:ada", "User:bob", "User:*", "User:ad", "Group:ada");
    private static final List<String> HOSTS = List.of("10.0.0.1", "10.0.0.2");
    private static final List<String> RULE_HOSTS = List.of("10.0.0.1", "10.0.0.2", "*", "10.0.0.*");
    private static final List<String> NAMES =
            List.of("a", "ab", "abc", "b", "ba", ".*", "a*", "A", "kafka-cluster", "é");
    private static final List<String> RULE_NAMES =
            List.of("a", "ab", "abc", "b", "ba", ".*", "a*", "A", "*", "kafka-cluster", "é", "abcd");
    private static final List<AclResourceType> TYPES = List.of(
            AclResourceType.TOPIC, AclResourceType.GROUP, AclResourceType.CLUSTER, AclResourceType.TRANSACTIONAL_ID);

    @Test
    void shouldDecideAsKafkaWhenSetsAreFew() throws Exception {
        compare(20_261_124L, FEW_SETS);
    }

    @Test
    @Tag("long")
    void shouldDecideAsKafkaWhenSetsAreMany() throws Exception {
        compare(System.nanoTime(), MANY_SETS);
    }

    private static void compare(long seed, int sets) throws Exception {
        Random random = new Random(seed);
        StandardAuthorizer strict = kafka(false);
        StandardAuthorizer open = kafka(true);
        Map<AclDecision.Verdict, Integer> verdicts = new EnumMap<>(AclDecision.Verdict.class);
        for (int i = 0; i < sets; i++) {
            boolean allowsWithoutAcl = random.nextInt(3) == 0;
            Sets both = new Sets(allowsWithoutAcl ? open : strict, allowsWithoutAcl, verdicts);
            Focus focus = new Focus(pick(random, TYPES), pick(random, NAMES));
            List<Acl> acls = new ArrayList<>();
            int count = random.nextInt(MAX_ACLS_OF_A_SET + 1);
            for (int n = 0; n < count; n++) {
                Acl acl = randomAcl(random, focus);
                if (!acls.contains(acl)) {
                    acls.add(acl);
                    both.add(acl);
                }
            }
            if (!acls.isEmpty() && random.nextInt(3) == 0) {
                both.remove(acls.remove(random.nextInt(acls.size())));
            }
            for (int question = 0; question < QUESTIONS_FOR_A_SET; question++) {
                both.ask(random, focus, "seed " + seed + ", set " + i + " of " + acls);
            }
            acls.forEach(both::remove);
        }
        // Each kind of decision occurred often: otherwise the comparison would prove little.
        int questions = sets * QUESTIONS_FOR_A_SET;
        for (AclDecision.Verdict verdict : AclDecision.Verdict.values()) {
            assertThat(verdicts.getOrDefault(verdict, 0))
                    .as(verdict + " of " + questions + " questions: " + verdicts)
                    .isGreaterThan(questions / 50);
        }
        log.info("{} questions: {}", questions, verdicts);
    }

    private static StandardAuthorizer kafka(boolean allowsWithoutAcl) {
        StandardAuthorizer kafka = new StandardAuthorizer();
        kafka.configure(
                Map.of("super.users", SUPER_USER, "allow.everyone.if.no.acl.found", String.valueOf(allowsWithoutAcl)));
        kafka.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        kafka.completeInitialLoad();
        return kafka;
    }

    /** What most ACLs and questions of a set are about, so that several ACLs apply to a question. */
    private record Focus(AclResourceType type, String name) {
        AclResourceType type(Random random) {
            return random.nextInt(5) > 0 ? type : pick(random, TYPES);
        }

        /** The name, a beginning of it, every name, or another. */
        String ruleName(Random random) {
            return switch (random.nextInt(6)) {
                case 0, 1 -> name;
                case 2 -> name.substring(0, 1 + random.nextInt(name.length()));
                case 3 -> AclPattern.EVERY_NAME;
                default -> pick(random, RULE_NAMES);
            };
        }

        String name(Random random) {
            return random.nextInt(5) > 0 ? name : pick(random, NAMES);
        }

        Right right(Random random) {
            List<Right> ofType = Arrays.stream(Right.values())
                    .filter(right -> right.type() == type)
                    .toList();
            return random.nextInt(5) > 0 ? pick(random, ofType) : pick(random, List.of(Right.values()));
        }
    }

    private static Acl randomAcl(Random random, Focus focus) {
        return new Acl(
                new AclResource(
                        focus.type(random),
                        random.nextInt(5) < 2 ? AclPattern.PREFIXED : AclPattern.LITERAL,
                        focus.ruleName(random)),
                random.nextInt(3) > 0 ? pick(random, List.of("User:ada", "User:*")) : pick(random, RULE_PRINCIPALS),
                random.nextInt(3) > 0 ? Acl.EVERY_HOST : pick(random, RULE_HOSTS),
                random.nextInt(6) == 0 ? AclOperation.ALL : randomOperation(random),
                random.nextInt(3) == 0 ? AclPermission.DENY : AclPermission.ALLOW);
    }

    private static AclOperation randomOperation(Random random) {
        AclOperation picked = pick(random, List.of(AclOperation.values()));
        return picked.isSpecific() && picked != AclOperation.ALL ? picked : AclOperation.DESCRIBE;
    }

    private static <T> T pick(Random random, List<T> items) {
        return items.get(random.nextInt(items.size()));
    }

    /** The same ACLs in both authorizers. */
    private static final class Sets {
        private final StandardAuthorizer kafka;
        private final boolean allowsWithoutAcl;
        private final Map<AclDecision.Verdict, Integer> verdicts;
        private final Map<Acl, Uuid> ids = new HashMap<>();
        private AclImage image = AclImage.NONE;

        Sets(StandardAuthorizer kafka, boolean allowsWithoutAcl, Map<AclDecision.Verdict, Integer> verdicts) {
            this.kafka = kafka;
            this.verdicts = verdicts;
            this.allowsWithoutAcl = allowsWithoutAcl;
        }

        void add(Acl acl) {
            image = image.with(acl);
            Uuid id = Uuid.randomUuid();
            ids.put(acl, id);
            kafka.addAcl(
                    id,
                    new StandardAcl(
                            ResourceType.fromCode(acl.resource().type().code()),
                            acl.resource().name(),
                            PatternType.fromCode(acl.resource().pattern().code()),
                            acl.principal(),
                            acl.host(),
                            org.apache.kafka.common.acl.AclOperation.fromCode(
                                    acl.operation().code()),
                            AclPermissionType.fromCode(acl.permission().code())));
        }

        void remove(Acl acl) {
            image = image.without(acl);
            kafka.removeAcl(ids.remove(acl));
        }

        void ask(Random random, Focus focus, String situation) throws Exception {
            String principal = random.nextInt(3) > 0 ? "User:ada" : pick(random, PRINCIPALS);
            String host = pick(random, HOSTS);
            Right right = focus.right(random);
            String name = focus.name(random);
            Authorizer ours = new Authorizer(() -> image, Set.of(SUPER_USER), allowsWithoutAcl, AuditLog.OFF);
            Asker asker = new Asker(Principal.user(principal.substring("User:".length())), host, "Test", null, 0);
            ResourceType type = ResourceType.fromCode(right.type().code());
            org.apache.kafka.common.acl.AclOperation operation = org.apache.kafka.common.acl.AclOperation.fromCode(
                    right.operation().code());
            Context context = new Context(principal, host);
            AuthorizationResult expected = kafka.authorize(
                            context,
                            List.of(new Action(
                                    operation, new ResourcePattern(type, name, PatternType.LITERAL), 1, true, true)))
                    .get(0);
            String question = situation + ": may " + principal + " from " + host + " " + right + " '" + name + "'?";
            AclDecision.Verdict verdict = image.decide(principal, host, right.operation(), right.type(), name)
                    .verdict();
            verdicts.merge(verdict, 1, Integer::sum);
            assertThat(ours.sees(asker, right, name)).as(question).isEqualTo(expected == AuthorizationResult.ALLOWED);
            assertThat(ours.check(image, asker, right, name) == null)
                    .as(question)
                    .isEqualTo(ours.sees(asker, right, name));
            assertThat(ours.allowsSome(asker, right))
                    .as(question + " (any)")
                    .isEqualTo(kafka.authorizeByResourceType(context, operation, type) == AuthorizationResult.ALLOWED);
            compareFilters(random, situation);
        }

        private void compareFilters(Random random, String situation) {
            AclFilter filter = new AclFilter(
                    random.nextBoolean() ? AclResourceType.ANY : pick(random, TYPES),
                    pick(random, List.of(AclPattern.values())),
                    random.nextBoolean() ? null : pick(random, RULE_NAMES),
                    random.nextBoolean() ? null : pick(random, RULE_PRINCIPALS),
                    random.nextBoolean() ? null : pick(random, RULE_HOSTS),
                    random.nextBoolean() ? AclOperation.ANY : randomOperation(random),
                    pick(random, List.of(AclPermission.values())));
            AclBindingFilter theirs = new AclBindingFilter(
                    new ResourcePatternFilter(
                            ResourceType.fromCode(filter.type().code()),
                            filter.name(),
                            PatternType.fromCode(filter.pattern().code())),
                    new AccessControlEntryFilter(
                            filter.principal(),
                            filter.host(),
                            org.apache.kafka.common.acl.AclOperation.fromCode(
                                    filter.operation().code()),
                            AclPermissionType.fromCode(filter.permission().code())));
            Set<String> expected = new TreeSet<>();
            for (AclBinding binding : kafka.acls(theirs)) {
                expected.add(text(binding));
            }
            Set<String> found = new TreeSet<>();
            image.select(filter).forEach(acl -> found.add(text(acl)));
            assertThat(found).as(situation + ": " + filter).isEqualTo(expected);
        }

        private static String text(AclBinding binding) {
            return binding.pattern().resourceType().code() + "|"
                    + binding.pattern().patternType().code() + "|"
                    + binding.pattern().name() + "|" + binding.entry().principal() + "|"
                    + binding.entry().host() + "|" + binding.entry().operation().code() + "|"
                    + binding.entry().permissionType().code();
        }

        private static String text(Acl acl) {
            return acl.resource().type().code() + "|" + acl.resource().pattern().code() + "|"
                    + acl.resource().name() + "|" + acl.principal() + "|" + acl.host() + "|"
                    + acl.operation().code() + "|" + acl.permission().code();
        }
    }

    /** Who asks Kafka's authorizer. */
    private record Context(String name, String host) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public KafkaPrincipal principal() {
            return new KafkaPrincipal("User", name.substring("User:".length()));
        }

        @Override
        public InetAddress clientAddress() {
            try {
                return InetAddress.getByName(host);
            } catch (java.net.UnknownHostException impossible) {
                throw new AssertionError(impossible);
            }
        }

        @Override
        public int requestType() {
            return 0;
        }

        @Override
        public int requestVersion() {
            return 0;
        }

        @Override
        public String clientId() {
            return "";
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }
}
