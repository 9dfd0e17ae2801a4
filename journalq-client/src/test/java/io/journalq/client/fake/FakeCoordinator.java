package io.journalq.client.fake;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;

/**
 * The coordinator of one group with one member, and of one transactional id: says what it is told to say, and notes what it
 * was asked. Under its own monitor.
 */
public final class FakeCoordinator {
    private static final int HEARTBEAT_INTERVAL_MS = 100;
    private static final long PRODUCER_ID = 5000;
    private static final int ABSENT_BROKER = 9;

    /** A request that arrived, and at which broker. */
    public record Asked(int broker, ApiKey key, short version, ApiMessage request) {}

    private final Map<String, Uuid> topicIds;
    private final List<Asked> asked = new ArrayList<>();
    private final Map<ApiKey, Queue<ErrorCode>> errors = new EnumMap<>(ApiKey.class);
    private final Map<TopicPartition, Long> committed = new HashMap<>();
    private final Map<TopicPartition, Integer> committedEpochs = new HashMap<>();
    private Map<String, List<Integer>> target = new TreeMap<>();
    private int node;
    private int memberEpoch = 1;
    private boolean targetChanged;
    private boolean namesAbsentBroker;
    private short producerEpoch = -1;

    FakeCoordinator(Map<String, Uuid> topicIds) {
        this.topicIds = topicIds;
    }

    /** Another broker coordinates now. */
    public synchronized void moveTo(int broker) {
        node = broker;
    }

    /** The next lookup names a broker that is not in the metadata, because it has just started and then left. */
    public synchronized void nameAbsentBrokerOnce() {
        namesAbsentBroker = true;
    }

    /** The errors of the next responses of an API, in order. */
    public synchronized void refuse(ApiKey key, ErrorCode... refusals) {
        errors.computeIfAbsent(key, absent -> new ArrayDeque<>()).addAll(List.of(refusals));
    }

    /** What the member is to have, from the next epoch on. */
    public synchronized void assign(Collection<TopicPartition> partitions) {
        memberEpoch++;
        assignInThisEpoch(partitions);
    }

    /** What the member is to have, without a new epoch: partitions have become free, or are to be revoked. */
    public synchronized void assignInThisEpoch(Collection<TopicPartition> partitions) {
        targetChanged = true;
        target = new TreeMap<>();
        for (TopicPartition partition : partitions) {
            target.computeIfAbsent(partition.topic(), name -> new ArrayList<>()).add(partition.partition());
        }
    }

    public synchronized List<Asked> asked() {
        return List.copyOf(asked);
    }

    /** The requests of one kind, in order. */
    public synchronized <T extends ApiMessage> List<T> asked(ApiKey key, Class<T> type) {
        return asked.stream()
                .filter(request -> request.key() == key)
                .map(request -> type.cast(request.request()))
                .toList();
    }

    public synchronized Long committed(TopicPartition partition) {
        return committed.get(partition);
    }

    public synchronized Integer committedEpoch(TopicPartition partition) {
        return committedEpochs.get(partition);
    }

    synchronized FindCoordinatorResponse find(FindCoordinatorRequest request, List<FakeBroker> brokers) {
        FakeBroker broker = brokers.get(node);
        int named = namesAbsentBroker ? ABSENT_BROKER : node;
        namesAbsentBroker = false;
        return new FindCoordinatorResponse()
                .setCoordinators(List.of(new FindCoordinatorResponse.Coordinator()
                        .setKey(request.coordinatorKeys().get(0))
                        .setNodeId(named)
                        .setHost("localhost")
                        .setPort(broker.port())));
    }

    /** Returns the response to a coordinator request that arrived at a broker, or null for another kind of request. */
    synchronized ApiMessage respond(int broker, ApiKey key, short version, ApiMessage request) {
        if (key != ApiKey.CONSUMER_GROUP_HEARTBEAT || !isLeave(request)) {
            asked.add(new Asked(broker, key, version, request));
        }
        Queue<ErrorCode> refusals = errors.getOrDefault(key, new ArrayDeque<>());
        ErrorCode error =
                broker != node ? ErrorCode.NOT_COORDINATOR : refusals.isEmpty() ? ErrorCode.NONE : refusals.remove();
        short code = error.code();
        return switch (key) {
            case CONSUMER_GROUP_HEARTBEAT -> heartbeat((ConsumerGroupHeartbeatRequest) request, code);
            case OFFSET_COMMIT -> commit((OffsetCommitRequest) request, code);
            case OFFSET_FETCH -> fetch((OffsetFetchRequest) request, code);
            case INIT_PRODUCER_ID -> init(code);
            case ADD_PARTITIONS_TO_TXN -> addPartitions((AddPartitionsToTxnRequest) request, code);
            case ADD_OFFSETS_TO_TXN -> new AddOffsetsToTxnResponse().setErrorCode(code);
            case TXN_OFFSET_COMMIT -> commit((TxnOffsetCommitRequest) request, code);
            case END_TXN -> end((EndTxnRequest) request, version, code);
            default -> null;
        };
    }

    private static boolean isLeave(ApiMessage request) {
        return ((ConsumerGroupHeartbeatRequest) request).memberEpoch() < 0;
    }

    private ConsumerGroupHeartbeatResponse heartbeat(ConsumerGroupHeartbeatRequest request, short code) {
        ConsumerGroupHeartbeatResponse response = new ConsumerGroupHeartbeatResponse()
                .setErrorCode(code)
                .setErrorMessage(code == 0 ? null : "as the test wants it")
                .setMemberId(request.memberId())
                .setMemberEpoch(memberEpoch)
                .setHeartbeatIntervalMs(HEARTBEAT_INTERVAL_MS);
        boolean asks = request.memberEpoch() != memberEpoch || request.topicPartitions() != null;
        if (code != 0 || !(asks || targetChanged)) {
            return response;
        }
        targetChanged = false;
        List<ConsumerGroupHeartbeatResponse.TopicPartitions> topics = new ArrayList<>();
        target.forEach((topic, partitions) -> topics.add(new ConsumerGroupHeartbeatResponse.TopicPartitions()
                .setTopicId(topicIds.get(topic))
                .setPartitions(partitions)));
        return response.setAssignment(new ConsumerGroupHeartbeatResponse.Assignment().setTopicPartitions(topics));
    }

    private OffsetCommitResponse commit(OffsetCommitRequest request, short code) {
        List<OffsetCommitResponse.OffsetCommitResponseTopic> topics = new ArrayList<>();
        for (OffsetCommitRequest.OffsetCommitRequestTopic topic : request.topics()) {
            boolean byId = !topic.topicId().equals(Uuid.ZERO);
            String name = byId ? nameOf(topic.topicId()) : topic.name();
            short outcome = name == null ? ErrorCode.UNKNOWN_TOPIC_ID.code() : code;
            List<OffsetCommitResponse.OffsetCommitResponsePartition> partitions = new ArrayList<>();
            for (OffsetCommitRequest.OffsetCommitRequestPartition partition : topic.partitions()) {
                if (outcome == 0) {
                    TopicPartition id = new TopicPartition(name, partition.partitionIndex());
                    committed.put(id, partition.committedOffset());
                    committedEpochs.put(id, partition.committedLeaderEpoch());
                }
                partitions.add(new OffsetCommitResponse.OffsetCommitResponsePartition()
                        .setPartitionIndex(partition.partitionIndex())
                        .setErrorCode(outcome));
            }
            topics.add(new OffsetCommitResponse.OffsetCommitResponseTopic()
                    .setName(topic.name())
                    .setTopicId(topic.topicId())
                    .setPartitions(partitions));
        }
        return new OffsetCommitResponse().setTopics(topics);
    }

    private String nameOf(Uuid topicId) {
        return topicIds.entrySet().stream()
                .filter(topic -> topic.getValue().equals(topicId))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    private OffsetFetchResponse fetch(OffsetFetchRequest request, short code) {
        OffsetFetchRequest.OffsetFetchRequestGroup group = request.groups().get(0);
        List<OffsetFetchResponse.OffsetFetchResponseTopics> topics = new ArrayList<>();
        for (OffsetFetchRequest.OffsetFetchRequestTopics topic : group.topics()) {
            topics.add(new OffsetFetchResponse.OffsetFetchResponseTopics()
                    .setName(topic.name())
                    .setPartitions(topic.partitionIndexes().stream()
                            .map(partition -> new OffsetFetchResponse.OffsetFetchResponsePartitions()
                                    .setPartitionIndex(partition)
                                    .setCommittedOffset(
                                            committed.getOrDefault(new TopicPartition(topic.name(), partition), -1L))
                                    .setCommittedLeaderEpoch(committedEpochs.getOrDefault(
                                            new TopicPartition(topic.name(), partition), -1)))
                            .toList()));
        }
        return new OffsetFetchResponse()
                .setGroups(List.of(new OffsetFetchResponse.OffsetFetchResponseGroup()
                        .setGroupId(group.groupId())
                        .setErrorCode(code)
                        .setTopics(topics)));
    }

    private InitProducerIdResponse init(short code) {
        if (code == 0) {
            producerEpoch++;
        }
        return new InitProducerIdResponse()
                .setErrorCode(code)
                .setProducerId(PRODUCER_ID)
                .setProducerEpoch(producerEpoch);
    }

    private static AddPartitionsToTxnResponse addPartitions(AddPartitionsToTxnRequest request, short code) {
        return new AddPartitionsToTxnResponse()
                .setResultsByTopicV3AndBelow(request.v3AndBelowTopics().stream()
                        .map(topic -> new AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult()
                                .setName(topic.name())
                                .setResultsByPartition(topic.partitions().stream()
                                        .map(partition ->
                                                new AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult()
                                                        .setPartitionIndex(partition)
                                                        .setPartitionErrorCode(code))
                                        .toList()))
                        .toList());
    }

    private static TxnOffsetCommitResponse commit(TxnOffsetCommitRequest request, short code) {
        Map<String, List<TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition>> topics = new LinkedHashMap<>();
        request.topics().forEach(topic -> topic.partitions()
                .forEach(partition -> topics.computeIfAbsent(topic.name(), name -> new ArrayList<>())
                        .add(new TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition()
                                .setPartitionIndex(partition.partitionIndex())
                                .setErrorCode(code))));
        List<TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic> responses = new ArrayList<>();
        topics.forEach((name, partitions) -> responses.add(new TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic()
                .setName(name)
                .setPartitions(partitions)));
        return new TxnOffsetCommitResponse().setTopics(responses);
    }

    private EndTxnResponse end(EndTxnRequest request, short version, short code) {
        EndTxnResponse response = new EndTxnResponse().setErrorCode(code);
        if (code != 0 || version < EndTxnResponse.HIGHEST_VERSION) {
            return response;
        }
        producerEpoch = (short) (request.producerEpoch() + 1);
        return response.setProducerId(request.producerId()).setProducerEpoch(producerEpoch);
    }
}
