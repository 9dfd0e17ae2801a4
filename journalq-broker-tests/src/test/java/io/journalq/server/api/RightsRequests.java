package io.journalq.server.api;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.broker.SampleRequests;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResourceType;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * A request of each API that asks for rights, which can be sent any number of times, and the errors about rights in its
 * response.
 */
final class RightsRequests {
    private static final Set<ErrorCode> DENIALS = Collections.unmodifiableSet(EnumSet.of(
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED));

    private RightsRequests() {}

    /**
     * The requests.
     *
     * @param topicId the id of topic {@code t}
     */
    static Map<ApiKey, IntFunction<ApiMessage>> byApi(Uuid topicId) {
        Map<ApiKey, IntFunction<ApiMessage>> requests = new TreeMap<>(new SampleRequests(topicId).byApi());
        requests.put(ApiKey.DESCRIBE_TRANSACTIONS, version -> new DescribeTransactionsRequest()
                .setTransactionalIds(List.of("x")));
        // For another user than that of the tests, and without a name, so that nothing is created.
        requests.put(ApiKey.CREATE_ACLS, version -> new CreateAclsRequest()
                .setCreations(List.of(new CreateAclsRequest.AclCreation()
                        .setResourceType(AclResourceType.TOPIC.code())
                        .setResourcePatternType(AclPattern.LITERAL.code())
                        .setResourceName("")
                        .setPrincipal("User:bob")
                        .setHost("*")
                        .setOperation(AclOperation.READ.code())
                        .setPermissionType(AclPermission.ALLOW.code()))));
        requests.put(ApiKey.DELETE_ACLS, version -> new DeleteAclsRequest()
                .setFilters(List.of(new DeleteAclsRequest.DeleteAclsFilter()
                        .setResourceTypeFilter(AclResourceType.TOPIC.code())
                        .setPatternTypeFilter(AclPattern.LITERAL.code())
                        .setResourceNameFilter("none")
                        .setPrincipalFilter("User:bob")
                        .setHostFilter("*")
                        .setOperation(AclOperation.READ.code())
                        .setPermissionType(AclPermission.ALLOW.code()))));
        requests.put(ApiKey.DESCRIBE_ACLS, version -> new DescribeAclsRequest()
                .setResourceTypeFilter(AclResourceType.TOPIC.code())
                .setPatternTypeFilter(AclPattern.LITERAL.code())
                .setResourceNameFilter("none")
                .setPrincipalFilter("User:bob")
                .setHostFilter("*")
                .setOperation(AclOperation.READ.code())
                .setPermissionType(AclPermission.ALLOW.code()));
        // A Kafka broker does not respond to a user without rights who asks for all users.
        requests.put(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, version -> new DescribeUserScramCredentialsRequest()
                .setUsers(List.of(new DescribeUserScramCredentialsRequest.UserName().setName("x"))));
        requests.put(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, version -> new AlterUserScramCredentialsRequest()
                .setDeletions(List.of(new AlterUserScramCredentialsRequest.ScramCredentialDeletion()
                        .setName("x")
                        .setMechanism((byte) 1))));
        // From version 5 on, Kafka looks at the protocol before it looks at the rights.
        requests.put(ApiKey.SYNC_GROUP, version -> new SyncGroupRequest()
                .setGroupId("g")
                .setMemberId("nobody")
                .setProtocolType("consumer")
                .setProtocolName("range"));
        // Without a protocol, nobody joins, so that nobody waits for others.
        requests.put(ApiKey.JOIN_GROUP, version -> new JoinGroupRequest()
                .setGroupId("g" + version)
                .setSessionTimeoutMs(10_000)
                .setProtocolType("consumer"));
        requests.put(ApiKey.ALTER_CONFIGS, version -> new AlterConfigsRequest()
                .setResources(List.of(new AlterConfigsRequest.AlterConfigsResource()
                        .setResourceType((byte) 2)
                        .setResourceName("t"))));
        requests.put(ApiKey.INCREMENTAL_ALTER_CONFIGS, version -> new IncrementalAlterConfigsRequest()
                .setResources(List.of(new IncrementalAlterConfigsRequest.AlterConfigsResource()
                        .setResourceType((byte) 2)
                        .setResourceName("t"))));
        requests.put(ApiKey.CREATE_PARTITIONS, version -> new CreatePartitionsRequest()
                .setTimeoutMs(1_000)
                .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                        .setName("t")
                        .setCount(1)
                        .setAssignments(null))));
        requests.put(ApiKey.CONSUMER_GROUP_HEARTBEAT, version -> new ConsumerGroupHeartbeatRequest()
                .setGroupId("cg")
                .setMemberId("m")
                .setMemberEpoch(0)
                .setRebalanceTimeoutMs(10_000)
                .setSubscribedTopicNames(List.of("t"))
                .setTopicPartitions(List.of()));
        requests.put(ApiKey.CONSUMER_GROUP_DESCRIBE, version -> new ConsumerGroupDescribeRequest()
                .setGroupIds(List.of("none")));
        requests.put(ApiKey.ENVELOPE, version -> new EnvelopeRequest()
                .setRequestData(io.netty.buffer.Unpooled.EMPTY_BUFFER)
                .setRequestPrincipal(io.netty.buffer.Unpooled.EMPTY_BUFFER)
                .setClientHostAddress(io.netty.buffer.Unpooled.EMPTY_BUFFER));
        requests.put(ApiKey.BROKER_REGISTRATION, version -> new BrokerRegistrationRequest().setClusterId("another"));
        requests.put(ApiKey.ALLOCATE_PRODUCER_IDS, version -> new AllocateProducerIdsRequest());
        requests.put(ApiKey.BROKER_HEARTBEAT, version -> new BrokerHeartbeatRequest());
        requests.put(ApiKey.ALTER_PARTITION, version -> new AlterPartitionRequest());
        requests.put(ApiKey.ASSIGN_REPLICAS_TO_DIRS, version -> new AssignReplicasToDirsRequest());
        requests.put(ApiKey.ADD_RAFT_VOTER, version -> new AddRaftVoterRequest().setClusterId("another"));
        requests.put(ApiKey.REMOVE_RAFT_VOTER, version -> new RemoveRaftVoterRequest().setClusterId("another"));
        return requests;
    }

    /** The errors about rights in a response. */
    static Set<ErrorCode> denials(ApiMessage response) throws ReflectiveOperationException {
        Set<ErrorCode> denials = EnumSet.noneOf(ErrorCode.class);
        collect(response, denials);
        denials.retainAll(DENIALS);
        return denials;
    }

    private static void collect(Object message, Set<ErrorCode> errors) throws ReflectiveOperationException {
        for (Method method : message.getClass().getMethods()) {
            if (method.getParameterCount() > 0 || method.getDeclaringClass() != message.getClass()) {
                continue;
            }
            boolean isError = method.getReturnType() == short.class
                    && method.getName().endsWith("rrorCode")
                    && !method.getName().equals("topicConfigErrorCode");
            if (isError) {
                errors.add(ErrorCode.of((short) method.invoke(message)));
            } else if (method.getReturnType() == List.class) {
                for (Object element : (List<?>) nonNull(method.invoke(message))) {
                    if (element.getClass().getName().startsWith("io.journalq.common.protocol.message")) {
                        collect(element, errors);
                    }
                }
            }
        }
    }

    private static Object nonNull(Object list) {
        return list == null ? List.of() : list;
    }
}
