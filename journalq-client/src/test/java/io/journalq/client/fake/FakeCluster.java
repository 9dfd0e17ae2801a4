package io.journalq.client.fake;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Brokers over real sockets that keep everything in memory and do wrong what they are told to. Its state is under its
 * own monitor, which the brokers' threads take for each request.
 */
public final class FakeCluster implements AutoCloseable {
    private static final int DEFAULT_MAX_VERSION_CAP = 100;

    final List<FakeBroker> brokers = new ArrayList<>();
    final Map<String, List<FakePartition>> topics = new HashMap<>();
    final Map<ApiKey, Integer> served = new EnumMap<>(ApiKey.class);
    final Map<String, Uuid> topicIds = new HashMap<>();
    final Set<Integer> fenced = new HashSet<>();
    final Map<String, ErrorCode> refusedTopics = new HashMap<>();
    Function<ApiKey, Fault> faults = key -> Fault.NONE;
    long nextProducerId = 1000;
    final FakeCoordinator coordinator = new FakeCoordinator(topicIds);
    final List<String> transactionalIds = new ArrayList<>();
    short transactionVersion;
    private int createdTopics;
    boolean refusesNewApiVersions;
    boolean ignoresNewConnections;
    boolean namesLeaders;
    long appendTimeMs = -1;
    int requests;

    /** Starts brokers with ids from 0. */
    public FakeCluster(int brokerCount) throws IOException {
        for (ApiKey key : List.of(
                ApiKey.API_VERSIONS,
                ApiKey.METADATA,
                ApiKey.PRODUCE,
                ApiKey.FETCH,
                ApiKey.LIST_OFFSETS,
                ApiKey.DELETE_RECORDS,
                ApiKey.INIT_PRODUCER_ID,
                ApiKey.FIND_COORDINATOR,
                ApiKey.CONSUMER_GROUP_HEARTBEAT,
                ApiKey.OFFSET_COMMIT,
                ApiKey.OFFSET_FETCH,
                ApiKey.ADD_PARTITIONS_TO_TXN,
                ApiKey.ADD_OFFSETS_TO_TXN,
                ApiKey.TXN_OFFSET_COMMIT,
                ApiKey.END_TXN,
                ApiKey.DESCRIBE_CLUSTER,
                ApiKey.DESCRIBE_LOG_DIRS,
                ApiKey.LIST_GROUPS,
                ApiKey.LIST_TRANSACTIONS)) {
            served.put(key, DEFAULT_MAX_VERSION_CAP);
        }
        for (int i = 0; i < brokerCount; i++) {
            brokers.add(new FakeBroker(this, i));
        }
    }

    public String bootstrapServers() {
        return brokers.stream().map(broker -> "localhost:" + broker.port()).collect(Collectors.joining(","));
    }

    /** Creates a topic, its partitions spread over the brokers. Replaces one of that name, as if it had been deleted. */
    public synchronized FakeCluster topic(String name, int partitionCount) {
        List<FakePartition> partitions = new ArrayList<>();
        for (int i = 0; i < partitionCount; i++) {
            partitions.add(new FakePartition(i % brokers.size()));
        }
        topics.put(name, partitions);
        topicIds.put(name, new Uuid(++createdTopics, 7));
        return this;
    }

    /** Adds a partition to a topic. */
    public synchronized void addPartition(String name) {
        List<FakePartition> partitions = topics.get(name);
        partitions.add(new FakePartition(partitions.size() % brokers.size()));
    }

    /** Makes lookups of offsets of a partition fail. */
    public synchronized void failLookups(String topic, int partition, ErrorCode error) {
        topics.get(topic).get(partition).lookupError = error;
    }

    /** The coordinator of groups and transactions. */
    public FakeCoordinator coordinator() {
        return coordinator;
    }

    /** Says that this generation of transactions is in force. */
    public synchronized void transactionVersion(int version) {
        transactionVersion = (short) version;
    }

    /** The transactional id of each Produce request, in order. */
    public synchronized List<String> transactionalIds() {
        return new ArrayList<>(transactionalIds);
    }

    /** Producer epoch and first sequence number of each batch of a partition, and whether it belongs to a transaction. */
    public synchronized List<String> numbers(TopicPartition id) {
        return topics.get(id.topic()).get(id.partition()).log.stream()
                .map(appended -> RecordBatch.producerEpoch(appended.batch(), 0) + ":"
                        + RecordBatch.baseSequence(appended.batch(), 0)
                        + (RecordBatch.isTransactional(appended.batch(), 0) ? "T" : ""))
                .toList();
    }

    /**
     * Ends a producer's transaction in a partition with a marker.
     *
     * @param firstOffset of the transaction, for readers of committed records
     */
    public synchronized void endTransaction(TopicPartition id, long producerId, long firstOffset, boolean commit) {
        FakePartition partition = topics.get(id.topic()).get(id.partition());
        if (!commit) {
            partition.aborted.add(new FetchResponse.AbortedTransaction()
                    .setProducerId(producerId)
                    .setFirstOffset(firstOffset));
        }
        byte[] key = {0, 0, 0, (byte) (commit ? 1 : 0)};
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(0, key, new byte[6], List.of());
            ByteBuf marker = builder.build();
            marker.setLong(RecordBatch.PRODUCER_ID, producerId);
            RecordBatch.setAttributes(marker, 0, (short) (RecordBatch.CONTROL_FLAG | RecordBatch.TRANSACTIONAL_FLAG));
            int checkedBytes = marker.readableBytes() - RecordBatch.ATTRIBUTES;
            RecordBatch.setCrc(marker, 0, Crc32c.compute(marker, RecordBatch.ATTRIBUTES, checkedBytes));
            partition.store(marker);
            marker.release();
        }
    }

    String topicName(Uuid id) {
        return topicIds.entrySet().stream()
                .filter(topic -> topic.getValue().equals(id))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse("unknown");
    }

    /** Decides, for each Produce and Fetch, what goes wrong. */
    public synchronized void faults(Function<ApiKey, Fault> decide) {
        this.faults = decide;
    }

    /** Reads nothing more from connections that are opened from now on, as a frozen process. */
    public synchronized void ignoreNewConnections() {
        ignoresNewConnections = true;
    }

    /** Responds to Metadata requests for a topic with an error. */
    public synchronized void refuse(String topic, ErrorCode error) {
        refusedTopics.put(topic, error);
    }

    /** Stops serving an API. */
    public synchronized void withdraw(ApiKey key) {
        served.remove(key);
    }

    /** Serves an API up to a version only. */
    public synchronized void limit(ApiKey key, int newestVersion) {
        served.put(key, newestVersion);
    }

    /** Behaves like a broker that knows only the oldest ApiVersions. */
    public synchronized void refuseNewApiVersions() {
        refusesNewApiVersions = true;
    }

    /** From now on, brokers say that they gave batches this timestamp. */
    public synchronized void appendTime(long timestampMs) {
        appendTimeMs = timestampMs;
    }

    /** Brokers name the leaders of partitions that they do not lead. */
    public synchronized FakeCluster nameLeaders() {
        namesLeaders = true;
        return this;
    }

    public synchronized void moveLeader(TopicPartition id, int leader) {
        FakePartition partition = topics.get(id.topic()).get(id.partition());
        partition.leader = leader;
        partition.leaderEpoch++;
    }

    /** From now on, a fetch gets the batches before its offset, too. */
    public synchronized void serveAll(TopicPartition id) {
        topics.get(id.topic()).get(id.partition()).servesAll = true;
    }

    /**
     * The next response with batches ends with the first batch of the log, as if the one to an earlier request arrived
     * after it. Leaders know where the epoch of that batch ends.
     *
     * @param endOffset where it ends
     */
    public synchronized void repeatFirst(TopicPartition id, long endOffset) {
        FakePartition partition = topics.get(id.topic()).get(id.partition());
        partition.repeatsFirst = true;
        partition.lostEnds.put(RecordBatch.leaderEpoch(partition.log.get(0).batch(), 0), endOffset);
    }

    /** The next lookup by time finds nothing. Right after it, a record is appended, which later ones find. */
    public synchronized void appendAfterLookup(TopicPartition id) {
        topics.get(id.topic()).get(id.partition()).appendsAfterLookup = true;
    }

    /** The leader loses the batches from an offset on, and leads in another epoch. */
    public synchronized void loseFrom(TopicPartition id, long offset) {
        FakePartition partition = topics.get(id.topic()).get(id.partition());
        partition.log.removeIf(appended -> appended.baseOffset() >= offset);
        partition.endOffset = offset;
        partition.forgetProducers();
        partition.lostEnds.put(partition.leaderEpoch, offset);
        partition.leaderEpoch++;
    }

    /** The leader prefers another broker for consumers in a rack. That one has everything, and responds with {@code error}. */
    public synchronized void follower(TopicPartition id, int broker, String rack, ErrorCode error) {
        FakePartition partition = topics.get(id.topic()).get(id.partition());
        partition.follower = broker;
        partition.followerRack = rack;
        partition.followerError = error;
    }

    /** How often a follower has served records of a partition. */
    public synchronized int readFromFollower(TopicPartition id) {
        return topics.get(id.topic()).get(id.partition()).readFromFollower;
    }

    /** The first two brokers have each other's address from now on. Connections to these addresses stay open. */
    public synchronized void exchangeAddresses() {
        brokers.get(0).exchangeIds(brokers.get(1));
        Collections.swap(brokers, 0, 1);
    }

    /** Stops a broker for good. The metadata still contain it. */
    public void kill(int broker) {
        brokers.get(broker).close();
    }

    /** The cluster has noticed that a broker is down. */
    public synchronized void fence(int broker) {
        fenced.add(broker);
    }

    /** The brokers whose groups and transactions a broker coordinates: the first one also has those of fenced ones. */
    synchronized List<Integer> coordinatedBy(int broker) {
        List<Integer> coordinated = new ArrayList<>();
        for (int id = 0; id < brokers.size(); id++) {
            if (id == broker || (broker == 0 && fenced.contains(id))) {
                coordinated.add(id);
            }
        }
        return coordinated;
    }

    public synchronized int leader(TopicPartition id) {
        return topics.get(id.topic()).get(id.partition()).leader;
    }

    /** The broker of a partition loses what it knows of producers. */
    public synchronized void forgetProducers(TopicPartition id) {
        topics.get(id.topic()).get(id.partition()).forgetProducers();
    }

    /** Makes the broker expect other numbers than the producers will use next. */
    public synchronized void outdate(TopicPartition id) {
        topics.get(id.topic()).get(id.partition()).expectOtherNumbers();
    }

    /** Flips bits in the last byte of a stored batch; the second call restores it. */
    public synchronized void corrupt(TopicPartition id, int batch) {
        var bytes = topics.get(id.topic()).get(id.partition()).log.get(batch).batch();
        int at = bytes.writerIndex() - 1;
        bytes.setByte(at, bytes.getByte(at) ^ 0x55);
    }

    public synchronized long endOffset(TopicPartition id) {
        return topics.get(id.topic()).get(id.partition()).endOffset;
    }

    public synchronized int batchCount(TopicPartition id) {
        return topics.get(id.topic()).get(id.partition()).log.size();
    }

    /** Requests of every API but ApiVersions that got a response or lost their connection. */
    public synchronized int requests() {
        return requests;
    }

    /** Every value of a partition, by offset. */
    public synchronized List<String> values(TopicPartition id) {
        List<String> values = new ArrayList<>();
        try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT)) {
            for (FakePartition.Appended appended : topics.get(id.topic()).get(id.partition()).log) {
                reader.reset(appended.batch());
                while (reader.nextBatch()) {
                    while (reader.next()) {
                        values.add(new String(ByteBufUtil.getBytes(reader.value()), StandardCharsets.UTF_8));
                    }
                }
            }
        }
        return values;
    }

    /** Breaks every connection. */
    public void dropConnections() {
        brokers.forEach(FakeBroker::dropConnections);
    }

    @Override
    public void close() {
        brokers.forEach(FakeBroker::close);
    }
}
