package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.broker.WireClient;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResourceType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What ACLs do to requests that last, to lists, and to descriptions. {@link AccessMatrixTest} covers every API. */
class RightsTest {
    private static final String HOST = "10.0.0.1";
    private static final byte TOPIC = AclResourceType.TOPIC.code();
    private static final byte GROUP = AclResourceType.GROUP.code();
    private static final byte CLUSTER = AclResourceType.CLUSTER.code();

    private LocalBroker broker;
    private LocalBroker.User root;
    private LocalBroker.User ada;
    private Uuid ordersId;

    @BeforeEach
    void start() throws Exception {
        broker = new LocalBroker(Map.of("authorization.enabled", "true", "super.users", "User:root"));
        root = broker.user("root", HOST);
        ada = broker.user("ada", HOST);
        ordersId = createTopic("orders");
        createTopic("secrets");
    }

    @AfterEach
    void stop() throws Exception {
        broker.close();
    }

    @Test
    void shouldEndTheReadsOfASessionWhenTheRightIsTakenAway() throws Exception {
        // given
        allow(TOPIC, "orders", AclOperation.READ);
        FetchResponse first = ada.call(FetchResponse.class, fetch(0, 0, 0), 12);
        assertThat(errorOf(first)).isEqualTo(ErrorCode.NONE);

        // when
        deleteAcls();
        produce("orders");
        FetchResponse second =
                ada.call(FetchResponse.class, fetch(first.sessionId(), 1, 0).setTopics(List.of()), 12);

        // then
        assertThat(errorOf(second)).isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        assertThat(second.responses().get(0).partitions().get(0).records().sizeBytes())
                .isZero();

        // and when the right is given back
        allow(TOPIC, "orders", AclOperation.READ);
        FetchResponse third =
                ada.call(FetchResponse.class, fetch(first.sessionId(), 2, 0).setTopics(List.of()), 12);
        FetchResponse.PartitionData data = third.responses().get(0).partitions().get(0);
        assertThat(data.errorCode()).isZero();
        assertThat(data.records().sizeBytes()).isPositive();
        data.records().release();
    }

    @Test
    void shouldAskAgainWhenAParkedFetchGoesOn() throws Exception {
        // given
        allow(TOPIC, "orders", AclOperation.READ);
        CompletableFuture<io.journalq.common.protocol.ApiMessage> parked = ada.start(fetch(0, -1, 30_000), 12);
        ada.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0);
        assertThat(parked).isNotDone();

        // when
        deleteAcls();
        produce("orders");

        // then
        FetchResponse response = (FetchResponse) parked.get(20, TimeUnit.SECONDS);
        assertThat(errorOf(response)).isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
    }

    /** CVE-2026-6564 of EMQX: a client could use the session of another. */
    @Test
    void shouldNotFindTheSessionOfAnotherClient() throws Exception {
        allow(TOPIC, "orders", AclOperation.READ);
        FetchResponse first = ada.call(FetchResponse.class, fetch(0, 0, 0), 12);

        FetchResponse stolen = broker.user("ada", HOST)
                .call(FetchResponse.class, fetch(first.sessionId(), 1, 0).setTopics(List.of()), 12);

        assertThat(ErrorCode.of(stolen.errorCode())).isEqualTo(ErrorCode.FETCH_SESSION_ID_NOT_FOUND);
    }

    @Test
    void shouldLeaveOutWhatTheClientMayNotSeeWhenAllTopicsAreAskedFor() throws Exception {
        allow(TOPIC, "orders", AclOperation.WRITE);

        MetadataResponse all = ada.call(MetadataResponse.class, new MetadataRequest().setTopics(null), 12);
        DescribeTopicPartitionsResponse pages = ada.call(
                DescribeTopicPartitionsResponse.class,
                new DescribeTopicPartitionsRequest().setResponsePartitionLimit(100),
                0);

        assertThat(all.topics())
                .extracting(MetadataResponse.MetadataResponseTopic::name)
                .containsExactly("orders");
        assertThat(pages.topics())
                .extracting(DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic::name)
                .containsExactly("orders");
        assertThat(root.call(MetadataResponse.class, new MetadataRequest().setTopics(null), 12)
                        .topics())
                .hasSize(2);
    }

    @Test
    void shouldNotSayWhetherATopicExistsWhenTheClientMayNotSeeIt() throws Exception {
        MetadataRequest byName = new MetadataRequest()
                .setAllowAutoTopicCreation(true)
                .setTopics(List.of(
                        new MetadataRequest.MetadataRequestTopic().setName("secrets"),
                        new MetadataRequest.MetadataRequestTopic().setName("nothing")));
        MetadataRequest byId = new MetadataRequest()
                .setTopics(List.of(
                        new MetadataRequest.MetadataRequestTopic().setName(null).setTopicId(ordersId)));

        assertThat(ada.call(MetadataResponse.class, byName, 12).topics())
                .extracting(topic -> ErrorCode.of(topic.errorCode()))
                .containsExactly(ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        MetadataResponse.MetadataResponseTopic hidden =
                ada.call(MetadataResponse.class, byId, 12).topics().get(0);
        assertThat(ErrorCode.of(hidden.errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
        assertThat(hidden.name()).isNull();
        assertThat(root.call(MetadataResponse.class, new MetadataRequest().setTopics(null), 12)
                        .topics())
                .as("no topic was created for a client without the right")
                .hasSize(2);
    }

    @Test
    void shouldCreateAMissingTopicOnlyForWhoMayCreateIt() throws Exception {
        allow(TOPIC, "new", AclOperation.DESCRIBE);
        MetadataRequest request = new MetadataRequest()
                .setAllowAutoTopicCreation(true)
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("new")));

        assertThat(ErrorCode.of(ada.call(MetadataResponse.class, request, 12)
                        .topics()
                        .get(0)
                        .errorCode()))
                .isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        allow(TOPIC, "new", AclOperation.CREATE);
        assertThat(ada.call(MetadataResponse.class, request, 12).topics().get(0).errorCode())
                .isZero();
    }

    @Test
    void shouldListOnlyTheGroupsThatTheClientMaySee() throws Exception {
        commit("mine");
        commit("theirs");
        allow(GROUP, "mine", AclOperation.READ);

        assertThat(ada.call(ListGroupsResponse.class, new ListGroupsRequest(), 5)
                        .groups())
                .extracting(ListGroupsResponse.ListedGroup::groupId)
                .containsExactly("mine");
        allow(CLUSTER, AclResourceType.CLUSTER_NAME, AclOperation.DESCRIBE);
        assertThat(ada.call(ListGroupsResponse.class, new ListGroupsRequest(), 5)
                        .groups())
                .hasSize(2);
    }

    @Test
    void shouldLeaveOutOffsetsOfTopicsThatTheClientMayNotSee() throws Exception {
        commit("mine");
        allow(GROUP, "mine", AclOperation.READ);
        OffsetFetchRequest all = new OffsetFetchRequest()
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId("mine")
                        .setTopics(null)));

        assertThat(ada.call(OffsetFetchResponse.class, all, 9).groups().get(0).topics())
                .isEmpty();
        allow(TOPIC, "orders", AclOperation.READ);
        assertThat(ada.call(OffsetFetchResponse.class, all, 9).groups().get(0).topics())
                .extracting(OffsetFetchResponse.OffsetFetchResponseTopics::name)
                .containsExactly("orders");
    }

    /** CVE-2026-41115 of Kafka: the description of a group named topics that the client may not describe. */
    @Test
    void shouldNotDescribeAGroupWhenItsTopicsAreHiddenFromTheClient() throws Exception {
        join(root, "mine", "secrets");
        allow(GROUP, "mine", AclOperation.DESCRIBE);
        ConsumerGroupDescribeRequest request = new ConsumerGroupDescribeRequest().setGroupIds(List.of("mine"));

        ConsumerGroupDescribeResponse.DescribedGroup hidden = ada.call(ConsumerGroupDescribeResponse.class, request, 1)
                .groups()
                .get(0);

        assertThat(ErrorCode.of(hidden.errorCode())).isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        assertThat(hidden.members()).isEmpty();
        allow(TOPIC, "secrets", AclOperation.DESCRIBE);
        assertThat(ada.call(ConsumerGroupDescribeResponse.class, request, 1)
                        .groups()
                        .get(0)
                        .members())
                .hasSize(1);
    }

    @Test
    void shouldNotTellAMemberOfTopicsThatItsPatternMatchesAndThatItMayNotSee() throws Exception {
        allow(GROUP, "mine", AclOperation.READ);
        allow(TOPIC, "orders", AclOperation.READ);
        ConsumerGroupHeartbeatRequest joins = new ConsumerGroupHeartbeatRequest()
                .setGroupId("mine")
                .setMemberId("m")
                .setMemberEpoch(0)
                .setRebalanceTimeoutMs(10_000)
                .setSubscribedTopicRegex(".*")
                .setTopicPartitions(List.of());
        findCoordinator("mine");

        ConsumerGroupHeartbeatResponse response = ada.call(ConsumerGroupHeartbeatResponse.class, joins, 1);

        assertThat(ErrorCode.of(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.assignment().topicPartitions())
                .extracting(ConsumerGroupHeartbeatResponse.TopicPartitions::topicId)
                .containsExactly(ordersId);
    }

    /** CVE-2023-33246 and CVE-2023-37582 of RocketMQ: anybody could change the configuration of a broker. */
    @Test
    void shouldNotLetAUserWithoutTheRightChangeSettings() throws Exception {
        allow(TOPIC, "orders", AclOperation.ALL);
        IncrementalAlterConfigsRequest ofBroker = new IncrementalAlterConfigsRequest()
                .setResources(List.of(new IncrementalAlterConfigsRequest.AlterConfigsResource()
                        .setResourceType((byte) 4)
                        .setResourceName("")
                        .setConfigs(List.of(new IncrementalAlterConfigsRequest.AlterableConfig()
                                .setName("producer.id.expiration.ms")
                                .setValue("1000")))));

        IncrementalAlterConfigsResponse refused = ada.call(IncrementalAlterConfigsResponse.class, ofBroker, 1);

        assertThat(ErrorCode.of(refused.responses().get(0).errorCode()))
                .isEqualTo(ErrorCode.CLUSTER_AUTHORIZATION_FAILED);
        DescribeConfigsResponse described = root.call(
                DescribeConfigsResponse.class,
                new DescribeConfigsRequest()
                        .setResources(List.of(new DescribeConfigsRequest.DescribeConfigsResource()
                                .setResourceType((byte) 4)
                                .setResourceName("")
                                .setConfigurationKeys(List.of("producer.id.expiration.ms")))),
                4);
        assertThat(described.results().get(0).configs()).noneMatch(config -> "1000".equals(config.value()));
    }

    @Test
    void shouldSayWhichOperationsTheClientMayPerform() throws Exception {
        allow(TOPIC, "orders", AclOperation.READ);
        MetadataRequest request = new MetadataRequest()
                .setIncludeTopicAuthorizedOperations(true)
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("orders")));
        DescribeClusterRequest cluster = new DescribeClusterRequest().setIncludeClusterAuthorizedOperations(true);

        int operations =
                ada.call(MetadataResponse.class, request, 12).topics().get(0).topicAuthorizedOperations();

        assertThat(operations).isEqualTo(1 << AclOperation.READ.code() | 1 << AclOperation.DESCRIBE.code());
        assertThat(ada.call(DescribeClusterResponse.class, cluster, 2).clusterAuthorizedOperations())
                .isZero();
        allow(CLUSTER, AclResourceType.CLUSTER_NAME, AclOperation.DESCRIBE);
        assertThat(ada.call(DescribeClusterResponse.class, cluster, 2).clusterAuthorizedOperations())
                .isEqualTo(1 << AclOperation.DESCRIBE.code());
    }

    @Test
    void shouldGiveAProducerIdToWhoMayWriteToSomeTopic() throws Exception {
        InitProducerIdRequest request = new InitProducerIdRequest().setTransactionalId(null);
        assertThat(ErrorCode.of(
                        ada.call(InitProducerIdResponse.class, request, 4).errorCode()))
                .isEqualTo(ErrorCode.CLUSTER_AUTHORIZATION_FAILED);

        allow(TOPIC, "orders", AclOperation.WRITE);

        assertThat(ada.call(InitProducerIdResponse.class, request, 4).errorCode())
                .isZero();
    }

    /** The decision reads every ACL. A client without the right must not occupy the event loop with it. */
    @Test
    void shouldReadAllAclsOnlyOnceWhenAClientWithoutRightsRequestsProducerIds() throws Exception {
        // given
        List<CreateAclsRequest.AclCreation> creations = IntStream.range(0, 10_000)
                .mapToObj(i -> new CreateAclsRequest.AclCreation()
                        .setResourceType(TOPIC)
                        .setResourcePatternType(AclPattern.LITERAL.code())
                        .setResourceName("t" + i)
                        .setPrincipal("User:bob")
                        .setHost("*")
                        .setOperation(AclOperation.WRITE.code())
                        .setPermissionType(AclPermission.ALLOW.code()))
                .toList();
        root.call(CreateAclsResponse.class, new CreateAclsRequest().setCreations(creations), 3);
        AclImage acls = broker.handlers().authorizer().acls();
        InitProducerIdRequest request = new InitProducerIdRequest().setTransactionalId(null);

        // when
        long scanNanos = Long.MAX_VALUE;
        long requestNanos = Long.MAX_VALUE;
        for (int round = 0; round < 50; round++) {
            long begun = System.nanoTime();
            acls.allowsSome("User:ada", HOST, AclOperation.WRITE, AclResourceType.TOPIC);
            long scanned = System.nanoTime();
            ErrorCode refused = ErrorCode.of(
                    ada.call(InitProducerIdResponse.class, request, 4).errorCode());
            requestNanos = Math.min(requestNanos, System.nanoTime() - scanned);
            scanNanos = Math.min(scanNanos, scanned - begun);
            assertThat(refused).isEqualTo(ErrorCode.CLUSTER_AUTHORIZATION_FAILED);
        }

        // then
        assertThat(acls.size()).isEqualTo(10_000);
        assertThat(requestNanos).isLessThan(scanNanos);
        assertThat(broker.handlers().authorizer().denials())
                .as("each is audited")
                .isEqualTo(50);
        allow(TOPIC, "orders", AclOperation.WRITE);
        assertThat(ada.call(InitProducerIdResponse.class, request, 4).errorCode())
                .as("after a change of the ACLs")
                .isZero();
    }

    @Test
    void shouldForgetRightsWhenAnAclIsRemoved() throws Exception {
        allow(TOPIC, "orders", AclOperation.WRITE);
        assertThat(ErrorCode.of(produceAs(ada))).isEqualTo(ErrorCode.NONE);
        assertThat(ErrorCode.of(produceAs(ada))).as("a known right").isEqualTo(ErrorCode.NONE);

        deleteAcls();

        assertThat(ErrorCode.of(produceAs(ada))).isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        assertThat(broker.handlers().authorizer().denials()).isPositive();
    }

    @Test
    void shouldDescribeAndDeleteAcls() throws Exception {
        allow(TOPIC, "orders", AclOperation.READ);
        allow(TOPIC, "orders", AclOperation.WRITE);
        allow(GROUP, "mine", AclOperation.READ);
        DescribeAclsRequest all = new DescribeAclsRequest()
                .setResourceTypeFilter((byte) 1)
                .setPatternTypeFilter((byte) 1)
                .setResourceNameFilter(null)
                .setPrincipalFilter(null)
                .setHostFilter(null)
                .setOperation((byte) 1)
                .setPermissionType((byte) 1);

        assertThat(root.call(DescribeAclsResponse.class, all, 3).resources())
                .extracting(resource ->
                        resource.resourceName() + " " + resource.acls().size())
                .containsExactly("orders 2", "mine 1");
        DeleteAclsResponse deleted = root.call(
                DeleteAclsResponse.class,
                new DeleteAclsRequest()
                        .setFilters(List.of(new DeleteAclsRequest.DeleteAclsFilter()
                                .setResourceTypeFilter(TOPIC)
                                .setPatternTypeFilter(AclPattern.MATCH.code())
                                .setResourceNameFilter("orders")
                                .setPrincipalFilter(null)
                                .setHostFilter(null)
                                .setOperation(AclOperation.READ.code())
                                .setPermissionType((byte) 1))),
                3);
        assertThat(deleted.filterResults().get(0).matchingAcls())
                .extracting(DeleteAclsResponse.DeleteAclsMatchingAcl::principal)
                .containsExactly("User:ada");
        assertThat(root.call(DescribeAclsResponse.class, all, 3).resources())
                .extracting(resource ->
                        resource.resourceName() + " " + resource.acls().size())
                .containsExactly("orders 1", "mine 1");
    }

    @Test
    void shouldRefuseAclsAndFiltersThatCannotExist() throws Exception {
        CreateAclsRequest.AclCreation unknownType = creation((byte) 99, "orders", AclOperation.READ);
        CreateAclsRequest.AclCreation anyOperation = creation(TOPIC, "orders", AclOperation.ANY);
        CreateAclsRequest.AclCreation wrongCluster = creation(CLUSTER, "orders", AclOperation.ALTER);
        CreateAclsRequest.AclCreation noPrincipal =
                creation(TOPIC, "orders", AclOperation.READ).setPrincipal("ada");
        CreateAclsRequest.AclCreation tooLong = creation(TOPIC, "x".repeat(1_025), AclOperation.READ);

        CreateAclsResponse created = root.call(
                CreateAclsResponse.class,
                new CreateAclsRequest()
                        .setCreations(List.of(unknownType, anyOperation, wrongCluster, noPrincipal, tooLong)),
                3);
        DescribeAclsResponse described =
                root.call(DescribeAclsResponse.class, new DescribeAclsRequest().setResourceTypeFilter((byte) 99), 3);

        assertThat(created.results()).hasSize(5).allSatisfy(result -> assertThat(ErrorCode.of(result.errorCode()))
                .isEqualTo(ErrorCode.INVALID_REQUEST));
        assertThat(ErrorCode.of(described.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
    }

    private Uuid createTopic(String name) throws Exception {
        CreateTopicsResponse created = root.call(
                CreateTopicsResponse.class,
                new CreateTopicsRequest()
                        .setTimeoutMs(10_000)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName(name)
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1))),
                7);
        return created.topics().get(0).topicId();
    }

    private static CreateAclsRequest.AclCreation creation(byte type, String name, AclOperation operation) {
        return new CreateAclsRequest.AclCreation()
                .setResourceType(type)
                .setResourcePatternType(AclPattern.LITERAL.code())
                .setResourceName(name)
                .setPrincipal("User:ada")
                .setHost("*")
                .setOperation(operation.code())
                .setPermissionType(AclPermission.ALLOW.code());
    }

    private void allow(byte type, String name, AclOperation operation) throws Exception {
        CreateAclsResponse created = root.call(
                CreateAclsResponse.class,
                new CreateAclsRequest().setCreations(List.of(creation(type, name, operation))),
                3);
        assertThat(created.results().get(0).errorCode()).isZero();
    }

    private void deleteAcls() throws Exception {
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

    private static FetchRequest fetch(int sessionId, int epoch, int maxWaitMs) {
        return new FetchRequest()
                .setMaxWaitMs(maxWaitMs)
                .setMinBytes(1)
                .setMaxBytes(10_000)
                .setSessionId(sessionId)
                .setSessionEpoch(epoch)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("orders")
                        .setPartitions(List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(10_000)))));
    }

    private static ErrorCode errorOf(FetchResponse response) {
        return ErrorCode.of(response.responses().get(0).partitions().get(0).errorCode());
    }

    private void produce(String topic) throws Exception {
        ProduceResponse produced = root.call(
                ProduceResponse.class, WireClient.produceRequest(topic, 0, WireClient.batch(1, new byte[10])), 12);
        assertThat(produced.responses().get(0).partitionResponses().get(0).errorCode())
                .isZero();
    }

    private static short produceAs(LocalBroker.User user) throws Exception {
        return user.call(
                        ProduceResponse.class,
                        WireClient.produceRequest("orders", 0, WireClient.batch(1, new byte[10])),
                        12)
                .responses()
                .get(0)
                .partitionResponses()
                .get(0)
                .errorCode();
    }

    private void findCoordinator(String group) throws Exception {
        root.call(FindCoordinatorResponse.class, new FindCoordinatorRequest().setKey(group), 0);
    }

    /** Commits an offset of a group, which then exists. */
    private void commit(String group) throws Exception {
        findCoordinator(group);
        OffsetCommitResponse committed = root.call(
                OffsetCommitResponse.class,
                new OffsetCommitRequest()
                        .setGroupId(group)
                        .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                                .setName("orders")
                                .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setCommittedOffset(1))))),
                9);
        assertThat(committed.topics().get(0).partitions().get(0).errorCode()).isZero();
    }

    private void join(LocalBroker.User user, String group, String topic) throws Exception {
        findCoordinator(group);
        ConsumerGroupHeartbeatResponse joined = user.call(
                ConsumerGroupHeartbeatResponse.class,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId(group)
                        .setMemberId("m")
                        .setMemberEpoch(0)
                        .setRebalanceTimeoutMs(10_000)
                        .setSubscribedTopicNames(List.of(topic))
                        .setTopicPartitions(List.of()),
                1);
        assertThat(joined.errorCode()).isZero();
    }
}
