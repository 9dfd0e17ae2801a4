package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.index.BlockList;
import io.journalq.server.metadata.index.SortedIndex;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.AclRecord;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.server.metadata.record.ClientQuotaRecord;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.ControllerRecord;
import io.journalq.server.metadata.record.NodeStartedRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveAclRecord;
import io.journalq.server.metadata.record.RemoveBrokerRecord;
import io.journalq.server.metadata.record.RemoveScramRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.ResourceConfigRecord;
import io.journalq.server.metadata.record.ScramRecord;
import io.journalq.server.metadata.record.SnapshotEndRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.ScramImage;
import io.netty.buffer.ByteBufUtil;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The metadata that the records of the log have produced. Only records change it. One thread. */
final class MetadataState {
    /** Maximum number of distinct partitions that are shared. The states of changed partitions are all distinct. */
    private static final int MAX_SHARED_PARTITIONS = 10_000;

    private final MemoryAccount memory;
    /** Partitions of the newest epochs, as shared objects: a single broker needs one for all of its partitions. */
    private final Map<PartitionImage, PartitionImage> sharedPartitions = new LinkedHashMap<>();

    /** Topics that the records of the current replay have changed, in order. */
    private final Set<Uuid> touched = new LinkedHashSet<>();

    /** What the records of the current replay have charged. */
    private long chargedBytes;

    private String clusterId;
    private long version;
    private ActiveController controller;
    private SortedIndex<Integer, BrokerImage> brokers;
    private TopicIndexes topics;
    private long nextProducerId;
    private ClientQuotas quotas;
    private ResourceConfigs resources;
    private ScramImage scram;
    private AclImage acls;

    /**
     * Creates a state that begins with an image.
     *
     * @param memory charged with what records add, by {@link MetadataSizes}; not with the image
     */
    MetadataState(MemoryAccount memory, MetadataImage image) {
        this.memory = memory;
        set(image);
    }

    private void set(MetadataImage image) {
        clusterId = image.clusterId();
        version = image.version();
        controller = image.controller();
        brokers = image.brokerIndex();
        topics = image.indexes();
        nextProducerId = image.nextProducerId();
        quotas = image.quotas();
        resources = image.resources();
        scram = image.scram();
        acls = image.acls();
    }

    String clusterId() {
        return clusterId;
    }

    /** Number of records that have been applied. */
    long version() {
        return version;
    }

    ActiveController controller() {
        return controller;
    }

    SortedIndex<Integer, BrokerImage> brokers() {
        return brokers;
    }

    TopicIndexes topics() {
        return topics;
    }

    long nextProducerId() {
        return nextProducerId;
    }

    ClientQuotas quotas() {
        return quotas;
    }

    ResourceConfigs resources() {
        return resources;
    }

    ScramImage scram() {
        return scram;
    }

    AclImage acls() {
        return acls;
    }

    MetadataImage image() {
        return new MetadataImage(
                clusterId, version, controller, brokers, topics, nextProducerId, quotas, resources, scram, acls);
    }

    /**
     * Applies records of the log.
     *
     * @throws IllegalArgumentException if a record cannot follow the previous ones: the log is damaged
     */
    MetadataDelta replay(List<Message> records) {
        return change(() -> records.forEach(this::replay));
    }

    /** Replaces the state with the one that {@code snapshot} restores, and returns what differs. */
    MetadataDelta restore(List<Message> snapshot) {
        return change(() -> {
            MetadataSnapshot.removals(image()).forEach(this::replay);
            brokers = BrokerImage.NONE;
            snapshot.forEach(this::replay);
        });
    }

    /** Changes everything or, after a failure, nothing: the same records can then be applied again. */
    private MetadataDelta change(Runnable replays) {
        MetadataImage before = image();
        touched.clear();
        chargedBytes = 0;
        try {
            replays.run();
            return MetadataDelta.of(before, image(), touched);
        } catch (RuntimeException | Error failure) {
            set(before);
            memory.add(-chargedBytes);
            throw failure;
        } finally {
            touched.clear();
        }
    }

    private void charge(long bytes) {
        memory.add(bytes);
        chargedBytes += bytes;
    }

    private void replay(Message record) {
        if (record instanceof SnapshotEndRecord end) {
            version = end.version();
            return;
        }
        if (record instanceof ClusterRecord cluster) {
            clusterId = cluster.clusterId();
        } else if (record instanceof TopicRecord topic) {
            replayTopic(topic);
        } else if (record instanceof PartitionsRecord partitions) {
            replayPartitions(partitions);
        } else if (record instanceof PartitionChangesRecord changes) {
            replayChanges(changes);
        } else if (record instanceof RemoveTopicRecord removed) {
            replayRemoval(removed);
        } else if (record instanceof ConfigRecord config) {
            replayConfig(config);
        } else if (record instanceof ProducerIdsRecord producerIds) {
            nextProducerId = producerIds.nextProducerId();
        } else if (record instanceof NodeStartedRecord started) {
            replayStart(started);
        } else if (record instanceof ClientQuotaRecord quota) {
            replayQuota(quota);
        } else if (record instanceof ResourceConfigRecord config) {
            replayResource(config);
        } else if (record instanceof ScramRecord credential) {
            replayScram(credential);
        } else if (record instanceof RemoveScramRecord removed) {
            changeScram(removed.user(), scram.without(removed.user(), mechanism(removed.mechanism())));
        } else if (record instanceof AclRecord added) {
            changeAcls(acls.with(MetadataSnapshot.acl(added)), MetadataSnapshot.acl(added), 1);
        } else if (record instanceof RemoveAclRecord removed) {
            changeAcls(acls.without(MetadataSnapshot.acl(removed)), MetadataSnapshot.acl(removed), -1);
        } else if (record instanceof BrokerRecord broker) {
            replayBroker(broker);
        } else if (record instanceof BrokerChangeRecord change) {
            replayBrokerChange(change);
        } else if (record instanceof RemoveBrokerRecord removed) {
            replayBrokerRemoval(removed);
        } else if (record instanceof ControllerRecord elected) {
            controller = new ActiveController(elected.nodeId(), elected.term());
        } else {
            throw new IllegalArgumentException("not a metadata record: " + record);
        }
        version++;
    }

    private void replayQuota(ClientQuotaRecord record) {
        if (record.address() == null ? !record.user() && !record.clientId() : record.user() || record.clientId()) {
            throw new IllegalArgumentException("a quota without an entity: " + record);
        }
        QuotaEntity entity = record.address() != null
                ? QuotaEntity.at(new QuotaEntity.Part(record.address().isEmpty() ? null : record.address()))
                : new QuotaEntity(
                        record.user() ? new QuotaEntity.Part(record.userName()) : null,
                        record.clientId() ? new QuotaEntity.Part(record.clientIdName()) : null);
        charge(-MetadataSizes.quota(entity, quotas.of(entity)));
        quotas = quotas.with(entity, record.key(), record.remove() ? null : record.value());
        charge(MetadataSizes.quota(entity, quotas.of(entity)));
    }

    private void replayResource(ResourceConfigRecord record) {
        ResourceId.Kind kind = ResourceId.Kind.of(record.resourceType());
        if (kind == null) {
            throw new IllegalArgumentException("a configuration of an unknown resource type: " + record);
        }
        ResourceId resource = new ResourceId(kind, record.resourceName());
        charge(-MetadataSizes.resource(resource, resources.of(resource)));
        resources = resources.with(resource, record.name(), record.value());
        charge(MetadataSizes.resource(resource, resources.of(resource)));
    }

    private void replayScram(ScramRecord record) {
        ScramCredential credential = new ScramCredential(
                mechanism(record.mechanism()),
                ByteBufUtil.getBytes(record.salt()),
                record.iterations(),
                ByteBufUtil.getBytes(record.storedKey()),
                ByteBufUtil.getBytes(record.serverKey()));
        changeScram(record.user(), scram.with(record.user(), credential));
    }

    private void changeScram(String user, ScramImage changed) {
        charge(MetadataSizes.scram(user, changed.of(user).values())
                - MetadataSizes.scram(user, scram.of(user).values()));
        scram = changed;
    }

    /** @param count 1 if the entry is added, -1 if it is removed */
    private void changeAcls(AclImage changed, Acl acl, int count) {
        if (changed.size() != acls.size()) {
            charge(count * MetadataSizes.acl(acl));
        }
        acls = changed;
    }

    private static ScramMechanism mechanism(byte type) {
        ScramMechanism mechanism = ScramMechanism.of(type);
        if (mechanism == null) {
            throw new IllegalArgumentException("a credential of an unknown mechanism: " + type);
        }
        return mechanism;
    }

    private void replayBroker(BrokerRecord record) {
        if (record.listeners().isEmpty()) {
            throw new IllegalArgumentException("a broker without listeners: " + record);
        }
        brokers = brokers.with(MetadataSnapshot.broker(record));
    }

    private void replayBrokerChange(BrokerChangeRecord record) {
        BrokerImage broker = brokers.find(record.nodeId());
        if (broker == null || broker.epoch() != record.epoch()) {
            throw new IllegalArgumentException("a record changes a registration that does not exist: " + record);
        }
        brokers = brokers.with(broker.in(record.fenced(), record.leaving()).withFull(record.full()));
    }

    private void replayBrokerRemoval(RemoveBrokerRecord record) {
        if (brokers.find(record.nodeId()) == null) {
            throw new IllegalArgumentException("a record removes a broker that does not exist: " + record);
        }
        brokers = brokers.without(record.nodeId());
    }

    private void replayTopic(TopicRecord record) {
        if (topics.byName().find(record.name()) != null || topics.byId().find(record.topicId()) != null) {
            throw new IllegalArgumentException("a record creates an existing topic: " + record);
        }
        // An older release created internal topics with fewer settings.
        put(new TopicImage(record.name(), record.topicId(), List.of(), InternalTopics.defaultsOf(record.name())));
    }

    private void replayRemoval(RemoveTopicRecord record) {
        TopicImage topic = topic(record.topicId());
        topics = topics.without(topic);
        touched.add(topic.id());
        charge(-MetadataSizes.of(topic));
    }

    private void replayStart(NodeStartedRecord record) {
        sharedPartitions.clear();
        for (TopicImage topic : topics.byName()) {
            List<PartitionImage> partitions = topic.partitions().stream()
                    .map(partition -> partition.leader() == record.nodeId() ? partition.inNextEpoch() : partition)
                    .map(this::shared)
                    .toList();
            put(new TopicImage(topic.name(), topic.id(), partitions, topic.configs()));
        }
    }

    private void replayPartitions(PartitionsRecord record) {
        TopicImage topic = topic(record.topicId());
        if (record.firstPartition() < 0
                || record.firstPartition() > topic.partitions().size()) {
            throw new IllegalArgumentException("a record adds partitions behind missing ones: " + record);
        }
        BlockList.Editor<PartitionImage> partitions = BlockList.edit(topic.partitions());
        for (int i = 0; i < record.partitions().size(); i++) {
            PartitionState state = record.partitions().get(i);
            PartitionImage partition = shared(MetadataSnapshot.partition(state));
            int number = record.firstPartition() + i;
            if (number < partitions.size()) {
                partitions.set(number, partition);
            } else {
                partitions.add(partition);
            }
        }
        put(new TopicImage(topic.name(), topic.id(), partitions.build(), topic.configs()));
    }

    private void replayChanges(PartitionChangesRecord record) {
        TopicImage topic = topic(record.topicId());
        BlockList.Editor<PartitionImage> partitions = BlockList.edit(topic.partitions());
        for (ChangeState state : record.changes()) {
            if (!topic.hasPartition(state.partition())) {
                throw new IllegalArgumentException("a record changes a partition that does not exist: " + record);
            }
            PartitionImage before = partitions.get(state.partition());
            partitions.set(state.partition(), shared(before.after(MetadataSnapshot.change(state))));
        }
        put(new TopicImage(topic.name(), topic.id(), partitions.build(), topic.configs()));
    }

    private void replayConfig(ConfigRecord record) {
        TopicImage topic = topic(record.topicId());
        Map<String, String> configs = new TreeMap<>(topic.configs());
        if (record.value() == null) {
            configs.remove(record.name());
        } else {
            // Earlier releases wrote the text as it was set.
            configs.put(record.name(), TopicConfig.canonical(record.name(), record.value()));
        }
        put(new TopicImage(topic.name(), topic.id(), topic.partitions(), configs));
    }

    /** Returns one shared object for equal partitions, because almost all are equal. */
    private PartitionImage shared(PartitionImage partition) {
        if (sharedPartitions.size() >= MAX_SHARED_PARTITIONS) {
            sharedPartitions.clear();
        }
        PartitionImage known = sharedPartitions.putIfAbsent(partition, partition);
        return known == null ? partition : known;
    }

    private void put(TopicImage topic) {
        TopicImage before = topics.byName().find(topic.name());
        topics = topics.with(topic);
        touched.add(topic.id());
        charge(MetadataSizes.of(topic) - (before == null ? 0 : MetadataSizes.of(before)));
    }

    private TopicImage topic(Uuid id) {
        TopicImage topic = topics.byId().find(id);
        if (topic == null) {
            throw new IllegalArgumentException("a record names a topic that does not exist: " + id);
        }
        return topic;
    }
}
