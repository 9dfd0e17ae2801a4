package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateAclsRequest;
import io.journalq.common.protocol.message.CreateAclsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.DeleteAclsRequest;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResourceType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Sends each request in each situation of rights, and renders the errors about rights as text: for each API and version,
 * a line for each set of errors, with the situations that lead to it.
 */
final class RightsMatrix {
    static final String NO_ERROR = "-";

    /** The beginning of the names of topics that exist at the beginning of each situation, and may be deleted. */
    private static final String DELETED = "deleted-";

    private static final int FIRST_DELETE_TOPICS_WITH_IDS = 6;
    private static final int CREATE_TOPICS_VERSION = 7;
    private static final int TIMEOUT_MS = 10_000;
    private static final String HOST = "127.0.0.1";
    private static final String OTHER_HOST = "127.0.0.3";
    private static final String EVERYTHING = "*";
    private static final int CREATE_ACLS_VERSION = 3;

    /** The operations of each type of resource that Kafka has. */
    private static final Map<AclResourceType, List<AclOperation>> OPERATIONS = new TreeMap<>(Map.of(
            AclResourceType.TOPIC,
            List.of(
                    AclOperation.ALL,
                    AclOperation.READ,
                    AclOperation.WRITE,
                    AclOperation.CREATE,
                    AclOperation.DELETE,
                    AclOperation.ALTER,
                    AclOperation.DESCRIBE,
                    AclOperation.DESCRIBE_CONFIGS,
                    AclOperation.ALTER_CONFIGS),
            AclResourceType.GROUP,
            List.of(AclOperation.ALL, AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DELETE),
            AclResourceType.CLUSTER,
            List.of(
                    AclOperation.ALL,
                    AclOperation.CREATE,
                    AclOperation.CLUSTER_ACTION,
                    AclOperation.DESCRIBE_CONFIGS,
                    AclOperation.ALTER_CONFIGS,
                    AclOperation.IDEMPOTENT_WRITE,
                    AclOperation.ALTER,
                    AclOperation.DESCRIBE),
            AclResourceType.TRANSACTIONAL_ID,
            List.of(AclOperation.ALL, AclOperation.DESCRIBE, AclOperation.WRITE)));

    /** The beginnings of all names in the requests. */
    private static final Map<AclResourceType, List<String>> PREFIXES = new TreeMap<>(Map.of(
            AclResourceType.TOPIC, List.of("t", "v", DELETED),
            AclResourceType.GROUP, List.of("g", "h", "x", "cg", "no"),
            AclResourceType.TRANSACTIONAL_ID, List.of("x")));

    /** A broker that is asked. */
    interface Broker {
        /**
         * Sends a request.
         *
         * @param user null for a stranger
         * @param host the address of the client
         * @return the response; null if the broker has closed the connection
         */
        ApiMessage ask(String user, String host, ApiMessage request, int version) throws Exception;

        /** Waits until the broker decides by as many ACLs. */
        void awaitAcls(int count) throws Exception;
    }

    /**
     * A client and its rights.
     *
     * @param user null for a stranger
     */
    private record Situation(String name, String user, String host, List<CreateAclsRequest.AclCreation> acls) {}

    private RightsMatrix() {}

    private static List<Situation> situations() {
        List<Situation> all = new ArrayList<>();
        all.add(new Situation("stranger", null, HOST, List.of()));
        all.add(new Situation("none", "ada", HOST, List.of()));
        all.add(new Situation("super", "root", HOST, List.of()));
        List<CreateAclsRequest.AclCreation> allowed = everything(HOST);
        all.add(new Situation("host", "ada", HOST, allowed));
        all.add(new Situation("other-host", "ada", OTHER_HOST, allowed));
        List<CreateAclsRequest.AclCreation> prefixes = new ArrayList<>();
        List<CreateAclsRequest.AclCreation> longer = new ArrayList<>();
        PREFIXES.forEach((type, names) -> names.forEach(name -> {
            prefixes.add(acl(type, AclOperation.ALL, AclPermission.ALLOW, AclPattern.PREFIXED, name, "*"));
            longer.add(acl(type, AclOperation.ALL, AclPermission.ALLOW, AclPattern.PREFIXED, name + "-", "*"));
        }));
        all.add(new Situation("prefix", "ada", HOST, prefixes));
        all.add(new Situation("other-prefix", "ada", HOST, longer));
        OPERATIONS.forEach((type, operations) -> operations.forEach(operation -> {
            String right = type + ":" + operation;
            String name = type == AclResourceType.CLUSTER ? AclResourceType.CLUSTER_NAME : EVERYTHING;
            all.add(new Situation(
                    "allow:" + right,
                    "ada",
                    HOST,
                    List.of(acl(type, operation, AclPermission.ALLOW, AclPattern.LITERAL, name, "*"))));
            List<CreateAclsRequest.AclCreation> but = new ArrayList<>(everything("*"));
            but.add(acl(type, operation, AclPermission.DENY, AclPattern.LITERAL, name, "*"));
            all.add(new Situation("deny:" + right, "ada", HOST, but));
        }));
        return all;
    }

    private static List<CreateAclsRequest.AclCreation> everything(String host) {
        return OPERATIONS.keySet().stream()
                .map(type -> acl(
                        type,
                        AclOperation.ALL,
                        AclPermission.ALLOW,
                        AclPattern.LITERAL,
                        type == AclResourceType.CLUSTER ? AclResourceType.CLUSTER_NAME : EVERYTHING,
                        host))
                .toList();
    }

    private static CreateAclsRequest.AclCreation acl(
            AclResourceType type,
            AclOperation operation,
            AclPermission permission,
            AclPattern pattern,
            String name,
            String host) {
        return new CreateAclsRequest.AclCreation()
                .setResourceType(type.code())
                .setResourcePatternType(pattern.code())
                .setResourceName(name)
                .setPrincipal("User:ada")
                .setHost(host)
                .setOperation(operation.code())
                .setPermissionType(permission.code());
    }

    /**
     * Asks a broker.
     *
     * @param versions of each API
     * @param requests of each API; to delete topics, its own are sent, because Kafka tells everybody which topics do not
     *     exist
     * @return the errors, by API and version and by the name of the situation
     */
    static Map<String, Map<String, String>> ask(
            Broker broker, Map<ApiKey, Set<Integer>> versions, Map<ApiKey, IntFunction<ApiMessage>> requests)
            throws Exception {
        Map<String, Map<String, String>> errors = new TreeMap<>();
        for (Situation situation : situations()) {
            createTopics(broker);
            create(broker, situation.acls());
            for (Map.Entry<ApiKey, Set<Integer>> api : versions.entrySet()) {
                for (int version : api.getValue()) {
                    ApiMessage request = api.getKey() == ApiKey.DELETE_TOPICS
                            ? deletion(version)
                            : requests.get(api.getKey()).apply(version);
                    ApiMessage response = broker.ask(situation.user(), situation.host(), request, version);
                    errors.computeIfAbsent(api.getKey() + " v" + version, first -> new TreeMap<>())
                            .put(situation.name(), response == null ? "CLOSED" : text(response));
                }
            }
            deleteAll(broker);
        }
        return errors;
    }

    private static ApiMessage deletion(int version) {
        String name = DELETED + version;
        return version < FIRST_DELETE_TOPICS_WITH_IDS
                ? new DeleteTopicsRequest().setTimeoutMs(TIMEOUT_MS).setTopicNames(List.of(name))
                : new DeleteTopicsRequest()
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopics(List.of(new DeleteTopicsRequest.DeleteTopicState().setName(name)));
    }

    private static void createTopics(Broker broker) throws Exception {
        List<CreateTopicsRequest.CreatableTopic> topics = new ArrayList<>();
        for (int version = 0; version <= FIRST_DELETE_TOPICS_WITH_IDS; version++) {
            topics.add(new CreateTopicsRequest.CreatableTopic()
                    .setName(DELETED + version)
                    .setNumPartitions(1)
                    .setReplicationFactor((short) 1));
        }
        broker.ask(
                "root",
                HOST,
                new CreateTopicsRequest().setTimeoutMs(TIMEOUT_MS).setTopics(topics),
                CREATE_TOPICS_VERSION);
    }

    private static String text(ApiMessage response) throws ReflectiveOperationException {
        Set<ErrorCode> denials = RightsRequests.denials(response);
        return denials.isEmpty()
                ? NO_ERROR
                : denials.stream().map(ErrorCode::name).collect(Collectors.joining("+"));
    }

    private static void create(Broker broker, List<CreateAclsRequest.AclCreation> acls) throws Exception {
        if (!acls.isEmpty()) {
            CreateAclsResponse created = (CreateAclsResponse)
                    broker.ask("root", HOST, new CreateAclsRequest().setCreations(acls), CREATE_ACLS_VERSION);
            for (CreateAclsResponse.AclCreationResult result : created.results()) {
                if (result.errorCode() != 0) {
                    throw new IllegalStateException("the broker creates no ACL: " + ErrorCode.of(result.errorCode()));
                }
            }
        }
        broker.awaitAcls(acls.size());
    }

    private static void deleteAll(Broker broker) throws Exception {
        broker.ask(
                "root",
                HOST,
                new DeleteAclsRequest()
                        .setFilters(List.of(new DeleteAclsRequest.DeleteAclsFilter()
                                .setResourceTypeFilter((byte) 1)
                                .setPatternTypeFilter((byte) 1)
                                .setResourceNameFilter(null)
                                .setPrincipalFilter(null)
                                .setHostFilter(null)
                                .setOperation((byte) 1)
                                .setPermissionType((byte) 1))),
                CREATE_ACLS_VERSION);
        broker.awaitAcls(0);
    }

    /** The lowest and the highest version in a range. */
    static Set<Integer> ends(int lowest, int highest) {
        return new TreeSet<>(Arrays.asList(lowest, highest));
    }

    /** The text of a file with all APIs. */
    static String render(Map<String, Map<String, String>> errors) {
        StringBuilder text = new StringBuilder();
        errors.forEach((api, bySituation) -> {
            text.append(api).append('\n');
            Map<String, List<String>> situations = new TreeMap<>();
            bySituation.forEach((situation, error) -> situations
                    .computeIfAbsent(error, first -> new ArrayList<>())
                    .add(situation));
            situations.forEach((error, names) -> text.append("  ")
                    .append(error)
                    .append(": ")
                    .append(String.join(" ", names))
                    .append('\n'));
        });
        return text.toString();
    }

    /** Reads what {@link #render} has written; lines that begin with # are comments. */
    static Map<String, Map<String, String>> parse(String file) {
        Map<String, Map<String, String>> errors = new TreeMap<>();
        Map<String, String> api = Map.of();
        for (String line : file.lines().filter(line -> !line.startsWith("#")).toList()) {
            if (!line.startsWith(" ")) {
                api = errors.computeIfAbsent(line, first -> new TreeMap<>());
                continue;
            }
            int colon = line.indexOf(':');
            for (String situation : line.substring(colon + 2).split(" ", -1)) {
                api.put(situation, line.substring(2, colon));
            }
        }
        return errors;
    }

    /** How errors differ from those that are expected: a line for each API, version and pair of errors. */
    static List<String> differences(
            Map<String, Map<String, String>> expected, Map<String, Map<String, String>> actual) {
        List<String> lines = new ArrayList<>();
        Set<String> apis = new TreeSet<>(expected.keySet());
        apis.addAll(actual.keySet());
        for (String api : apis) {
            Map<String, String> wanted = expected.getOrDefault(api, Map.of());
            Map<String, String> found = actual.getOrDefault(api, Map.of());
            Set<String> situations = new TreeSet<>(wanted.keySet());
            situations.addAll(found.keySet());
            Map<String, List<String>> byErrors = new TreeMap<>();
            for (String situation : situations) {
                if (!Objects.equals(wanted.get(situation), found.get(situation))) {
                    byErrors.computeIfAbsent(
                                    wanted.get(situation) + " is " + found.get(situation), first -> new ArrayList<>())
                            .add(situation);
                }
            }
            byErrors.forEach((errors, names) -> lines.add(api + ": " + errors + " for " + String.join(" ", names)));
        }
        return lines;
    }
}
