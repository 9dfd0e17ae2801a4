package io.journalq.server.api;

import static io.journalq.common.protocol.ErrorCode.CLUSTER_AUTHORIZATION_FAILED;
import static io.journalq.common.protocol.ErrorCode.GROUP_AUTHORIZATION_FAILED;
import static io.journalq.common.protocol.ErrorCode.TOPIC_AUTHORIZATION_FAILED;
import static io.journalq.common.protocol.ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.broker.WireClient;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every API that the broker registers, in its lowest and highest version, for a client without a name, a user without
 * rights, with each right alone, with a denial, a prefix, a host, and a super user. CVE-2024-29834 and CVE-2026-105926 of
 * Pulsar: some APIs did not ask.
 *
 * <p>{@link KafkaRightsTest} compares the error codes with those of a Kafka broker.
 */
@TestInstance(Lifecycle.PER_CLASS)
class AccessMatrixTest {
    private static final String HOST = "10.0.0.1";
    /** What a request needs, and the error without it. */
    private record Need(Right right, String name, ErrorCode denial) {}

    private final Map<ApiKey, IntFunction<List<Need>>> needs = new EnumMap<>(ApiKey.class);
    private LocalBroker broker;
    private LocalBroker.User root;
    private Map<ApiKey, IntFunction<ApiMessage>> requests;

    @BeforeAll
    void start() throws Exception {
        broker = new LocalBroker(Map.of("authorization.enabled", "true", "super.users", "User:root"));
        root = broker.user("root", HOST);
        CreateTopicsResponse created = root.call(
                CreateTopicsResponse.class,
                new CreateTopicsRequest()
                        .setTimeoutMs(10_000)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName("t")
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1))),
                7);
        Uuid topicId = created.topics().get(0).topicId();
        root.call(ProduceResponse.class, WireClient.produceRequest("t", 0, WireClient.batch(3, new byte[10])), 12);
        // Creates the topic of the coordinators.
        root.call(FindCoordinatorResponse.class, new FindCoordinatorRequest().setKey("g"), 0);
        root.call(
                FindCoordinatorResponse.class,
                new FindCoordinatorRequest().setKey("x").setKeyType((byte) 1),
                1);
        requests = RightsRequests.byApi(topicId);
        addNeeds();
    }

    @AfterAll
    void stop() throws Exception {
        broker.close();
    }

    private void addNeeds() {
        ofTopic(Right.WRITE_TOPIC, ApiKey.PRODUCE);
        ofTopic(Right.READ_TOPIC, ApiKey.FETCH, ApiKey.DESCRIBE_PRODUCERS);
        ofTopic(
                Right.DESCRIBE_TOPIC,
                ApiKey.LIST_OFFSETS,
                ApiKey.OFFSET_FOR_LEADER_EPOCH,
                ApiKey.METADATA,
                ApiKey.DESCRIBE_TOPIC_PARTITIONS);
        ofTopic(Right.DELETE_TOPIC, ApiKey.DELETE_RECORDS);
        ofTopic(Right.DESCRIBE_TOPIC_CONFIGS, ApiKey.DESCRIBE_CONFIGS);
        ofTopic(Right.ALTER_TOPIC_CONFIGS, ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS);
        ofTopic(Right.ALTER_TOPIC, ApiKey.CREATE_PARTITIONS);
        ofCluster(Right.ALTER_CLUSTER, ApiKey.ELECT_LEADERS, ApiKey.ALTER_PARTITION_REASSIGNMENTS);
        ofCluster(Right.ALTER_CLUSTER, ApiKey.UPDATE_FEATURES, ApiKey.ALTER_USER_SCRAM_CREDENTIALS);
        ofCluster(Right.ALTER_CLUSTER, ApiKey.UNREGISTER_BROKER);
        ofCluster(Right.ALTER_CLUSTER, ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS);
        ofCluster(Right.ALTER_CLUSTER, ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER);
        ofCluster(Right.DESCRIBE_CLUSTER, ApiKey.LIST_PARTITION_REASSIGNMENTS, ApiKey.DESCRIBE_QUORUM);
        ofCluster(Right.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_LOG_DIRS, ApiKey.DESCRIBE_ACLS);
        ofCluster(Right.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, ApiKey.READ_REPLICA);
        ofCluster(Right.DESCRIBE_CLUSTER_CONFIGS, ApiKey.LIST_CONFIG_RESOURCES, ApiKey.DESCRIBE_CLIENT_QUOTAS);
        ofCluster(Right.ALTER_CLUSTER_CONFIGS, ApiKey.ALTER_CLIENT_QUOTAS);
        ofCluster(Right.IDEMPOTENT_WRITE, ApiKey.INIT_PRODUCER_ID);
        ofCluster(Right.CLUSTER_ACTION, ApiKey.WRITE_TXN_MARKERS, ApiKey.ENVELOPE, ApiKey.BROKER_REGISTRATION);
        ofCluster(Right.CLUSTER_ACTION, ApiKey.ALLOCATE_PRODUCER_IDS, ApiKey.ALTER_PARTITION, ApiKey.BROKER_HEARTBEAT);
        ofCluster(Right.CLUSTER_ACTION, ApiKey.ASSIGN_REPLICAS_TO_DIRS);
        needs.put(
                ApiKey.CREATE_TOPICS,
                version -> List.of(new Need(Right.CREATE_TOPIC, "v" + version, TOPIC_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.DELETE_TOPICS,
                version -> List.of(new Need(Right.DELETE_TOPIC, "none", TOPIC_AUTHORIZATION_FAILED)));
        ofGroup(Right.READ_GROUP, "g", ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP);
        ofGroup(Right.DELETE_GROUP, "x", ApiKey.DELETE_GROUPS, ApiKey.OFFSET_DELETE);
        ofGroup(Right.DESCRIBE_GROUP, "none", ApiKey.CONSUMER_GROUP_DESCRIBE);
        needs.put(
                ApiKey.JOIN_GROUP,
                version -> List.of(new Need(Right.READ_GROUP, "g" + version, GROUP_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.DESCRIBE_GROUPS,
                version -> List.of(
                        new Need(Right.DESCRIBE_GROUP, "g", GROUP_AUTHORIZATION_FAILED),
                        new Need(Right.DESCRIBE_GROUP, "x", GROUP_AUTHORIZATION_FAILED)));
        needs.put(ApiKey.FIND_COORDINATOR, version -> Stream.of("g", "h")
                .limit(version < 4 ? 1 : 2)
                .map(group -> new Need(Right.DESCRIBE_GROUP, group, GROUP_AUTHORIZATION_FAILED))
                .toList());
        needs.put(
                ApiKey.OFFSET_COMMIT,
                version -> List.of(
                        new Need(Right.READ_GROUP, "x", GROUP_AUTHORIZATION_FAILED),
                        new Need(Right.READ_TOPIC, "t", TOPIC_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.OFFSET_FETCH,
                version -> List.of(
                        new Need(Right.DESCRIBE_GROUP, "x", GROUP_AUTHORIZATION_FAILED),
                        new Need(Right.DESCRIBE_TOPIC, "t", TOPIC_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.CONSUMER_GROUP_HEARTBEAT,
                version -> List.of(
                        new Need(Right.READ_GROUP, "cg", GROUP_AUTHORIZATION_FAILED),
                        new Need(Right.DESCRIBE_TOPIC, "t", TOPIC_AUTHORIZATION_FAILED)));
        Need transaction = new Need(Right.WRITE_TRANSACTIONAL_ID, "x", TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        needs.put(ApiKey.END_TXN, version -> List.of(transaction));
        needs.put(
                ApiKey.DESCRIBE_TRANSACTIONS,
                version ->
                        List.of(new Need(Right.DESCRIBE_TRANSACTIONAL_ID, "x", TRANSACTIONAL_ID_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.ADD_OFFSETS_TO_TXN,
                version -> List.of(transaction, new Need(Right.READ_GROUP, "g", GROUP_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.TXN_OFFSET_COMMIT,
                version -> List.of(
                        transaction,
                        new Need(Right.READ_GROUP, "g", GROUP_AUTHORIZATION_FAILED),
                        new Need(Right.READ_TOPIC, "t", TOPIC_AUTHORIZATION_FAILED)));
        needs.put(
                ApiKey.ADD_PARTITIONS_TO_TXN,
                version -> version < 4
                        ? List.of(transaction, new Need(Right.WRITE_TOPIC, "t", TOPIC_AUTHORIZATION_FAILED))
                        : List.of(new Need(
                                Right.CLUSTER_ACTION, AclResourceType.CLUSTER_NAME, CLUSTER_AUTHORIZATION_FAILED)));
        // Lists leave out what the client may not see: RightsTest.
        needs.put(ApiKey.LIST_GROUPS, version -> List.of());
        needs.put(ApiKey.LIST_TRANSACTIONS, version -> List.of());
        needs.put(ApiKey.DESCRIBE_CLUSTER, version -> List.of());
    }

    private void ofTopic(Right right, ApiKey... keys) {
        for (ApiKey key : keys) {
            needs.put(key, version -> List.of(new Need(right, "t", TOPIC_AUTHORIZATION_FAILED)));
        }
    }

    private void ofGroup(Right right, String group, ApiKey... keys) {
        for (ApiKey key : keys) {
            needs.put(key, version -> List.of(new Need(right, group, GROUP_AUTHORIZATION_FAILED)));
        }
    }

    private void ofCluster(Right right, ApiKey... keys) {
        for (ApiKey key : keys) {
            needs.put(
                    key,
                    version -> List.of(new Need(right, AclResourceType.CLUSTER_NAME, CLUSTER_AUTHORIZATION_FAILED)));
        }
    }

    @Test
    void shouldCoverEveryApiThatIsNotOpen() {
        Set<ApiKey> asking = EnumSet.noneOf(ApiKey.class);
        for (HandlerRegistry.Served served : broker.handlers().all()) {
            if (!served.api().access().isOpen()) {
                asking.add(served.api().key());
            }
        }

        assertThat(needs.keySet()).isEqualTo(asking);
        assertThat(requests.keySet()).containsAll(asking);
    }

    /** The APIs that say what they need. */
    List<HandlerRegistry.Served> asking() {
        return broker.handlers().all().stream()
                .filter(served -> !served.api().access().isOpen())
                .filter(served -> !needs.get(served.api().key())
                        .apply(served.api().lowestVersion())
                        .isEmpty())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("asking")
    void shouldServeOnlyWhoHasTheRights(HandlerRegistry.Served served) throws Exception {
        ApiKey key = served.api().key();
        for (int version : new int[] {served.api().lowestVersion(), served.api().highestVersion()}) {
            List<Need> all = needs.get(key).apply(version);
            Set<ErrorCode> allDenials = denials(all);
            String api = key + " v" + version;

            assertThat(allDenials).as(api + " without a name").containsAll(ask(null, HOST, key, version));
            assertThat(ask(null, HOST, key, version))
                    .as(api + " without a name")
                    .isNotEmpty();
            Set<ErrorCode> withoutAny = ask("ada", HOST, key, version);
            assertThat(withoutAny).as(api + " without rights").isNotEmpty().isSubsetOf(allDenials);
            assertThat(ask("root", HOST, key, version))
                    .as(api + " as super user")
                    .isEmpty();

            for (Need missing : all) {
                List<Need> others =
                        all.stream().filter(need -> !need.equals(missing)).toList();
                others.forEach(need -> create(acl(need, AclPermission.ALLOW, "*", AclPattern.LITERAL, need.name())));
                assertThat(ask("ada", HOST, key, version))
                        .as(api + " without " + missing)
                        .containsExactly(missing.denial());
                // A denial wins, and the same right for another user, another host or another name does not help.
                create(acl(missing, AclPermission.ALLOW, "10.0.0.2", AclPattern.LITERAL, missing.name()));
                create(acl(missing, AclPermission.ALLOW, "*", AclPattern.LITERAL, "another"));
                create(acl(missing, AclPermission.ALLOW, "*", AclPattern.PREFIXED, missing.name() + "-"));
                assertThat(ask("ada", HOST, key, version))
                        .as(api + " with another host, name or prefix")
                        .containsExactly(missing.denial());
                create(acl(missing, AclPermission.ALLOW, HOST, AclPattern.LITERAL, missing.name()));
                assertThat(ask("ada", HOST, key, version))
                        .as(api + " from the host")
                        .isEmpty();
                assertThat(ask("ada", "10.0.0.3", key, version))
                        .as(api + " from another host")
                        .containsExactly(missing.denial());
                create(acl(missing, AclPermission.DENY, "*", AclPattern.LITERAL, missing.name()));
                assertThat(ask("ada", HOST, key, version))
                        .as(api + " with a denial of " + missing)
                        .containsExactly(missing.denial());
                deleteAll();
                others.forEach(need -> create(acl(need, AclPermission.ALLOW, "*", AclPattern.LITERAL, need.name())));
                if (missing.right().type() != AclResourceType.CLUSTER) {
                    create(acl(
                            missing,
                            AclPermission.ALLOW,
                            "*",
                            AclPattern.PREFIXED,
                            missing.name().substring(0, 1)));
                    assertThat(ask("ada", HOST, key, version))
                            .as(api + " with a prefix")
                            .isEmpty();
                }
                deleteAll();
            }
        }
    }

    private static Set<ErrorCode> denials(List<Need> needs) {
        Set<ErrorCode> denials = EnumSet.noneOf(ErrorCode.class);
        needs.forEach(need -> denials.add(need.denial()));
        return denials;
    }

    private static CreateAclsRequest.AclCreation acl(
            Need need, AclPermission permission, String host, AclPattern pattern, String name) {
        boolean ofCluster = need.right().type() == AclResourceType.CLUSTER;
        return new CreateAclsRequest.AclCreation()
                .setResourceType(need.right().type().code())
                .setResourcePatternType(ofCluster ? AclPattern.LITERAL.code() : pattern.code())
                .setResourceName(ofCluster ? AclResourceType.CLUSTER_NAME : name)
                // On the cluster, there is no other name: another user gets the right instead.
                .setPrincipal(ofCluster && !need.name().equals(name) ? "User:bob" : "User:ada")
                .setHost(host)
                .setOperation(need.right().operation().code())
                .setPermissionType(permission.code());
    }

    private void create(CreateAclsRequest.AclCreation creation) {
        try {
            CreateAclsResponse created =
                    root.call(CreateAclsResponse.class, new CreateAclsRequest().setCreations(List.of(creation)), 3);
            assertThat(created.results().get(0).errorCode()).isZero();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private void deleteAll() throws Exception {
        root.call(
                DeleteAclsResponse.class,
                new DeleteAclsRequest()
                        .setFilters(List.of(new DeleteAclsRequest.DeleteAclsFilter()
                                .setResourceTypeFilter((byte) 1)
                                .setPatternTypeFilter((byte) 1)
                                .setResourceNameFilter(null)
                                .setPrincipalFilter(null)
                                .setHostFilter(null)
                                .setOperation((byte) 1)
                                .setPermissionType((byte) 1))),
                3);
    }

    /** The errors about rights in the response to a request. */
    private Set<ErrorCode> ask(String user, String host, ApiKey key, int version) throws Exception {
        try (LocalBroker.User client = broker.user(user, host)) {
            ApiMessage response =
                    client.call(ApiMessage.class, requests.get(key).apply(version), version);
            if (response instanceof FetchResponse fetched) {
                fetched.responses().stream()
                        .flatMap(topic -> topic.partitions().stream())
                        .filter(partition -> partition.records() != null)
                        .forEach(partition -> partition.records().release());
            }
            return RightsRequests.denials(response);
        }
    }
}
