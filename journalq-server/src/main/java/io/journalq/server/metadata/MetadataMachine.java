package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.NodeStartedRecord;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.ScramImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Decides on operations. A decision changes nothing. Only its records change the state ({@link MetadataState}), when
 * they are passed to {@link #replay}, in live operation and after a restart. One thread.
 */
public final class MetadataMachine {
    private final Limits limits;
    private final ResourceRules resourceRules;
    private final MemoryAccount memory;
    private final MetadataState state;

    /**
     * Limits of the metadata.
     *
     * @param nodeId this node
     * @param defaultPartitions number of partitions of a topic that requests the default
     * @param defaultReplicationFactor number of replicas of a topic that requests the default
     * @param maxPartitionsPerTopic maximum for one topic
     * @param maxPartitions maximum for all topics together
     */
    public record Limits(
            int nodeId,
            int defaultPartitions,
            int defaultReplicationFactor,
            int maxPartitionsPerTopic,
            int maxPartitions) {
        /** With one replica by default. */
        public Limits(int nodeId, int defaultPartitions, int maxPartitionsPerTopic, int maxPartitions) {
            this(nodeId, defaultPartitions, 1, maxPartitionsPerTopic, maxPartitions);
        }
    }

    /**
     * Decides which configurations are valid for resources other than topics. Pure: equal arguments give equal
     * results.
     */
    @FunctionalInterface
    public interface ResourceRules {
        /** Only topics can be configured. */
        ResourceRules NONE =
                (resource, configs, others) -> "there are no settings for resources of type " + resource.kind();

        /**
         * Why {@code configs} is not a valid configuration of {@code resource}; null if it is.
         *
         * @param configs values by name
         * @param others the configurations of all resources, with the present one of this
         */
        String problem(ResourceId resource, Map<String, String> configs, ResourceConfigs others);

        /**
         * The delivery mode of topics that set none, on a broker.
         *
         * @param resources the configurations of all brokers
         */
        default String defaultMode(ResourceConfigs resources, int nodeId) {
            return ReplicatedTopicRules.DEFAULT_MODE;
        }
    }

    /** Adds what a decider has charged to the charges of the committed state. */
    private static final class UncommittedMemory implements MemoryAccount {
        private final MemoryAccount committed;
        private long uncommittedBytes;

        UncommittedMemory(MemoryAccount committed) {
            this.committed = committed;
        }

        @Override
        public boolean hasRoom(long moreBytes) {
            return moreBytes <= 0 || committed.hasRoom(uncommittedBytes + moreBytes);
        }

        @Override
        public void add(long bytes) {
            uncommittedBytes += bytes;
        }
    }

    /** Creates a machine in which only topics have configurations. */
    public MetadataMachine(Limits limits) {
        this(limits, ResourceRules.NONE, MemoryAccount.UNBOUNDED);
    }

    /**
     * Creates a machine without state.
     *
     * @param resourceRules valid configurations of resources other than topics
     * @param memory charged with all metadata, by {@link MetadataSizes}
     */
    public MetadataMachine(Limits limits, ResourceRules resourceRules, MemoryAccount memory) {
        this(limits, resourceRules, memory, new MetadataState(memory, MetadataImage.EMPTY));
    }

    private MetadataMachine(Limits limits, ResourceRules resourceRules, MemoryAccount memory, MetadataState state) {
        this.limits = limits;
        this.resourceRules = resourceRules;
        this.memory = memory;
        this.state = state;
    }

    /**
     * Creates a machine with the state of {@code image} and the limits of this one. It decides on operations whose
     * earlier records are not committed yet, and is dropped afterwards. Its replay does not charge the memory account.
     * Any thread.
     */
    public MetadataMachine decider(MetadataImage image) {
        MemoryAccount uncommitted = new UncommittedMemory(memory);
        return new MetadataMachine(limits, resourceRules, uncommitted, new MetadataState(uncommitted, image));
    }

    /** Metadata with only the topic that a decision of {@link #createTopic} creates. Any thread. */
    public MetadataImage created(Decision decision) {
        MetadataMachine apart = decider(MetadataImage.EMPTY);
        apart.replay(decision.records());
        return apart.image();
    }

    /** Whether the cluster has an id. */
    public boolean isFormatted() {
        return !state.clusterId().isEmpty();
    }

    /** The cluster's id; empty before {@link #format}. */
    public String clusterId() {
        return state.clusterId();
    }

    /** Assigns an id to a new cluster. */
    public Decision format(Uuid newClusterId) {
        return Decision.append(List.of(new ClusterRecord().setClusterId(newClusterId.toString())));
    }

    /**
     * Starts this node with new leader epochs. Records lost in a crash were written in an older epoch than all records
     * from now on, so that consumers that read them can tell (KIP-320).
     */
    public Decision startNode() {
        return state.topics().partitionCount() == 0
                ? Decision.append(List.of())
                : Decision.append(List.of(new NodeStartedRecord().setNodeId(limits.nodeId())));
    }

    /** Begins a term of this node as the controller. */
    public Decision beginTerm(int term) {
        ActiveController elected = new ActiveController(limits.nodeId(), term);
        return Decision.append(
                elected.equals(state.controller()) ? List.of() : List.of(MetadataSnapshot.controllerRecord(elected)));
    }

    /** Appends a record that changes nothing. A broker that has applied it was alive after this decision. */
    public Decision mark() {
        return Decision.append(List.of(MetadataSnapshot.controllerRecord(state.controller())));
    }

    /** Decides on the registrations of brokers. */
    public RegistrationDecider registrations() {
        return new RegistrationDecider(state);
    }

    /** The id of this broker. */
    public int nodeId() {
        return limits.nodeId();
    }

    /** Decides on the brokers of a cluster. */
    public ClusterDecider cluster() {
        return new ClusterDecider(state);
    }

    /** Decides on changes of single partitions. */
    public PartitionDecider partitions() {
        return new PartitionDecider(state, resourceRules);
    }

    /** The current metadata. */
    public MetadataImage image() {
        return state.image();
    }

    /** The minimal records that restore this state in a new machine. */
    public List<Message> snapshot() {
        return MetadataSnapshot.records(image());
    }

    /** Creates a topic with an id that no topic has ever had. */
    public Decision createTopic(TopicSpec spec, Uuid id) {
        String problem = TopicNameRules.problem(spec.name());
        if (problem != null) {
            return Decision.refuse(ErrorCode.INVALID_TOPIC_EXCEPTION, problem);
        }
        if (state.topics().byName().find(spec.name()) != null) {
            return Decision.refuse(ErrorCode.TOPIC_ALREADY_EXISTS, "topic '" + spec.name() + "' already exists");
        }
        TopicImage similar = state.topics().byCollisionKey().find(TopicNameRules.collisionKey(spec.name()));
        if (similar != null) {
            return Decision.refuse(
                    ErrorCode.INVALID_TOPIC_EXCEPTION,
                    "topic '" + spec.name() + "' differs from topic '" + similar.name()
                            + "' only in '.' and '_', which tools do not distinguish");
        }
        ReplicaAssignments assignments = new ReplicaAssignments(state.brokers());
        int replicationFactor = spec.replicationFactor();
        if (replicationFactor == TopicSpec.DEFAULT) {
            replicationFactor = InternalTopics.contains(spec.name())
                    ? assignments.internalReplicationFactor()
                    : limits.defaultReplicationFactor();
        }
        Decision refused =
                spec.assignments().isEmpty() ? assignments.problem(replicationFactor) : checkChosen(spec, assignments);
        if (refused != null) {
            return refused;
        }
        boolean replicated = spec.assignments().isEmpty()
                ? replicationFactor > 1
                : spec.assignments().get(0).size() > 1;
        Map<String, String> asked = canonical(spec.configs());
        Map<String, String> configs = replicated ? ReplicatedTopicRules.withMode(asked) : asked;
        int partitions = partitionsOf(spec);
        refused = checkCount(partitions, partitions);
        if (refused != null) {
            return refused;
        }
        refused = checkMemory(MetadataSizes.topic(spec.name())
                + MetadataSizes.partitions(partitions)
                + MetadataSizes.settings(configs));
        if (refused != null) {
            return refused;
        }
        List<Message> records = new ArrayList<>();
        records.add(new TopicRecord().setTopicId(id).setName(spec.name()));
        records.add(assignments.record(
                id,
                0,
                spec.assignments().isEmpty()
                        ? assignments.place(id, 0, partitions, replicationFactor)
                        : spec.assignments()));
        for (Map.Entry<String, String> config : new TreeMap<>(configs).entrySet()) {
            refused = checkConfig(config.getKey(), config.getValue());
            if (refused != null) {
                return refused;
            }
            records.add(configRecord(id, config.getKey(), config.getValue()));
        }
        refused = checkTogether(configs);
        if (refused != null) {
            return refused;
        }
        return Decision.append(records);
    }

    /** Deletes a topic; its name can be reused. */
    public Decision deleteTopic(Uuid id) {
        return state.topics().byId().find(id) != null
                ? Decision.append(List.of(new RemoveTopicRecord().setTopicId(id)))
                : Decision.refuse(ErrorCode.UNKNOWN_TOPIC_ID, "there is no topic with this id");
    }

    /**
     * Adds partitions to a topic.
     *
     * @param newCount the new number of partitions
     * @param assignments nodes of each new partition; empty for the broker's choice
     */
    public Decision createPartitions(String name, int newCount, List<List<Integer>> assignments) {
        TopicImage topic = state.topics().byName().find(name);
        if (topic == null) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no topic '" + name + "'");
        }
        if (InternalTopics.contains(name)) {
            // The number of partitions determines where a group or transactional id is stored: a change would lose
            // them.
            return Decision.refuse(
                    ErrorCode.INVALID_TOPIC_EXCEPTION,
                    "topic '" + name + "' is internal: its number of partitions cannot change");
        }
        int count = topic.partitions().size();
        if (newCount <= count) {
            return Decision.refuse(
                    ErrorCode.INVALID_PARTITIONS,
                    "topic '" + name + "' has " + count + " partitions, and their number can only grow");
        }
        int added = newCount - count;
        if (!assignments.isEmpty() && assignments.size() != added) {
            return Decision.refuse(
                    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                    "Attempted to add " + added + " additional partition(s), but only " + assignments.size()
                            + " assignment(s) were specified.");
        }
        int replicationFactor = topic.partitions().get(0).targetReplicas().size();
        ReplicaAssignments nodes = new ReplicaAssignments(state.brokers());
        Decision refused = assignments.isEmpty()
                ? nodes.problem(replicationFactor)
                : nodes.problem(assignments, replicationFactor);
        refused = refused != null ? refused : checkCount(newCount, added);
        refused = refused != null ? refused : checkMemory(MetadataSizes.partitions(added));
        return refused != null
                ? refused
                : Decision.append(List.of(nodes.record(
                        topic.id(),
                        count,
                        assignments.isEmpty()
                                ? nodes.place(topic.id(), count, added, replicationFactor)
                                : assignments)));
    }

    /**
     * Changes the configuration of a topic.
     *
     * @param changes values by name; null to restore the default
     */
    public Decision alterTopicConfig(String name, Map<String, String> changes) {
        TopicImage topic = state.topics().byName().find(name);
        if (topic == null) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no topic '" + name + "'");
        }
        Map<String, String> asked = canonical(changes);
        Map<String, String> changed = MetadataSizes.changed(topic.configs(), asked);
        String unsupported = topic.isReplicated() ? ReplicatedTopicRules.problem(topic.configs(), changed) : null;
        if (unsupported != null) {
            return Decision.refuse(ErrorCode.INVALID_CONFIG, unsupported);
        }
        Decision tooMuch = checkMemory(MetadataSizes.settings(changed) - MetadataSizes.settings(topic.configs()));
        if (tooMuch != null) {
            return tooMuch;
        }
        // First, so that the leaders do not acknowledge more before the other replicas stop being eligible.
        List<Message> records =
                cluster().requireFewer(new TopicImage(topic.name(), topic.id(), topic.partitions(), changed));
        for (Map.Entry<String, String> change : asked.entrySet()) {
            if (change.getValue() == null && !topic.configs().containsKey(change.getKey())) {
                continue; // The setting is not set, so its name does not matter.
            }
            Decision refused = change.getValue() == null ? null : checkConfig(change.getKey(), change.getValue());
            if (refused != null) {
                return refused;
            }
            records.add(configRecord(topic.id(), change.getKey(), change.getValue()));
        }
        Decision contradiction = checkTogether(changed);
        if (contradiction != null) {
            return contradiction;
        }
        return Decision.append(records);
    }

    /**
     * Changes the configuration of a resource other than a topic.
     *
     * @param changes values by name; null to restore the default
     */
    public Decision alterResourceConfig(ResourceId resource, Map<String, String> changes) {
        SortedMap<String, String> result = new TreeMap<>(state.resources().of(resource));
        List<Message> records = new ArrayList<>();
        for (Map.Entry<String, String> change : new TreeMap<>(changes).entrySet()) {
            if (change.getValue() != null) {
                result.put(change.getKey(), change.getValue());
            } else if (result.remove(change.getKey()) == null) {
                continue;
            }
            records.add(MetadataSnapshot.resourceRecord(resource, change.getKey(), change.getValue()));
        }
        // Settings of a broker can depend on those that are deleted. Those of the other kinds depend on nothing.
        boolean isUnset = result.isEmpty() && (records.isEmpty() || resource.kind() != ResourceId.Kind.BROKER);
        String problem = isUnset ? null : resourceRules.problem(resource, result, state.resources());
        if (problem != null) {
            return Decision.refuse(ErrorCode.INVALID_CONFIG, problem);
        }
        if (!result.isEmpty() && state.resources().isOneTooMany(resource)) {
            return Decision.refuse(
                    ErrorCode.POLICY_VIOLATION,
                    ResourceConfigs.MAX_RESOURCES + " groups, brokers and subscriptions already have settings,"
                            + " which is the maximum");
        }
        Decision tooMuch = checkMemory(MetadataSizes.resource(resource, result)
                - MetadataSizes.resource(resource, state.resources().of(resource)));
        return tooMuch != null ? tooMuch : Decision.append(records);
    }

    /**
     * Changes the quotas of a client.
     *
     * @param changes limits by their keys in {@link QuotaKeys}; null to remove a limit
     */
    public Decision alterQuotas(QuotaEntity entity, Map<String, Double> changes) {
        List<Message> records = new ArrayList<>();
        for (Map.Entry<String, Double> change : new TreeMap<>(changes).entrySet()) {
            Double limit = change.getValue();
            String problem = limit == null ? null : QuotaKeys.problem(entity, change.getKey(), limit);
            if (problem != null) {
                return Decision.refuse(ErrorCode.INVALID_REQUEST, problem);
            }
            records.add(MetadataSnapshot.quotaRecord(entity, change.getKey(), limit));
        }
        Map<String, Double> before = state.quotas().of(entity);
        Map<String, Double> after = MetadataSizes.changed(before, changes);
        Decision tooMuch = checkMemory(MetadataSizes.quota(entity, after) - MetadataSizes.quota(entity, before));
        return tooMuch != null ? tooMuch : Decision.append(records);
    }

    /**
     * Changes the credentials of a user.
     *
     * @param set credentials that replace those of the same mechanisms
     * @param removed mechanisms whose credentials are removed
     */
    public Decision alterScram(String user, List<ScramCredential> set, List<ScramMechanism> removed) {
        String problem = ScramImage.nameProblem(user);
        if (problem != null && !set.isEmpty()) {
            return Decision.refuse(ErrorCode.UNACCEPTABLE_CREDENTIAL, problem);
        }
        ScramImage after = state.scram();
        List<Message> records = new ArrayList<>();
        for (ScramMechanism mechanism : removed) {
            if (after.find(user, mechanism) == null) {
                return Decision.refuse(
                        ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist");
            }
            after = after.without(user, mechanism);
            records.add(MetadataSnapshot.scramRemoval(user, mechanism));
        }
        for (ScramCredential credential : set) {
            after = after.with(user, credential);
            records.add(MetadataSnapshot.scramRecord(user, credential));
        }
        Decision tooMuch = checkMemory(MetadataSizes.scram(user, after.of(user).values())
                - MetadataSizes.scram(user, state.scram().of(user).values()));
        return tooMuch != null ? tooMuch : Decision.append(records);
    }

    /** Adds an ACL. One that is there already is not added again. */
    public Decision createAcl(Acl acl) {
        String problem = acl.problem();
        if (problem != null) {
            return Decision.refuse(ErrorCode.INVALID_REQUEST, problem);
        }
        if (state.acls().contains(acl)) {
            return Decision.append(List.of());
        }
        if (state.acls().size() >= AclImage.MAX_ACLS) {
            return Decision.refuse(
                    ErrorCode.POLICY_VIOLATION, "there are " + AclImage.MAX_ACLS + " ACLs, which is the maximum");
        }
        Decision tooMuch = checkMemory(MetadataSizes.acl(acl));
        return tooMuch != null ? tooMuch : Decision.append(List.of(MetadataSnapshot.aclRecord(acl)));
    }

    /** Removes ACLs: first those that allow, so that nobody gets rights if only the first ones are removed. */
    public Decision removeAcls(Collection<Acl> acls) {
        return Decision.appendInParts(acls.stream()
                .filter(state.acls()::contains)
                .sorted(Comparator.comparing(acl -> acl.permission() == AclPermission.DENY))
                .<Message>map(MetadataSnapshot::aclRemoval)
                .toList());
    }

    /** The first id of the block of producer ids that {@link #allocateProducerIds} would allocate. */
    public long nextProducerId() {
        return state.nextProducerId();
    }

    /** Allocates the next {@code count} producer ids. */
    public Decision allocateProducerIds(int count) {
        return Decision.append(List.of(new ProducerIdsRecord().setNextProducerId(state.nextProducerId() + count)));
    }

    /**
     * Applies records of the log.
     *
     * @throws IllegalArgumentException if a record cannot follow the previous ones: the log is damaged
     */
    public MetadataDelta replay(List<Message> records) {
        return state.replay(records);
    }

    /** Replaces the state with the one that {@code snapshot} restores, and returns what differs. */
    public MetadataDelta restore(List<Message> snapshot) {
        return state.restore(snapshot);
    }

    private static Decision checkChosen(TopicSpec spec, ReplicaAssignments assignments) {
        return spec.partitions() != TopicSpec.DEFAULT || spec.replicationFactor() != TopicSpec.DEFAULT
                ? Decision.refuse(
                        ErrorCode.INVALID_REQUEST,
                        "specify either assignments, or a number of partitions and a replication factor")
                : assignments.problem(spec.assignments());
    }

    private int partitionsOf(TopicSpec spec) {
        if (!spec.assignments().isEmpty()) {
            return spec.assignments().size();
        }
        return spec.partitions() == TopicSpec.DEFAULT ? limits.defaultPartitions() : spec.partitions();
    }

    private Decision checkCount(int ofTopic, int added) {
        if (ofTopic < 1 || ofTopic > limits.maxPartitionsPerTopic()) {
            return Decision.refuse(
                    ErrorCode.INVALID_PARTITIONS,
                    "a topic must have 1 to " + limits.maxPartitionsPerTopic() + " partitions, not " + ofTopic
                            + " (max.partitions.per.topic)");
        }
        if (added > limits.maxPartitions() - state.topics().partitionCount()) {
            return Decision.refuse(
                    ErrorCode.POLICY_VIOLATION,
                    "all topics together may have " + limits.maxPartitions() + " partitions and have "
                            + state.topics().partitionCount() + " (max.partitions)");
        }
        return null;
    }

    private Decision checkMemory(long moreBytes) {
        return memory.hasRoom(moreBytes)
                ? null
                : Decision.refuse(
                        ErrorCode.POLICY_VIOLATION,
                        "the memory limit of the metadata is reached (" + StatePart.METADATA.setting() + ")");
    }

    private static ConfigRecord configRecord(Uuid topicId, String name, String value) {
        return new ConfigRecord().setTopicId(topicId).setName(name).setValue(value);
    }

    /** The texts as they are stored. All rules apply to these, because a number such as 01 is another text than 1. */
    private static SortedMap<String, String> canonical(Map<String, String> configs) {
        SortedMap<String, String> texts = new TreeMap<>();
        configs.forEach((name, text) -> texts.put(name, text == null ? null : TopicConfig.canonical(name, text)));
        return texts;
    }

    private static Decision checkTogether(Map<String, String> configs) {
        try {
            TopicConfig.checkTogether(configs);
            return null;
        } catch (ConfigException contradiction) {
            return Decision.refuse(ErrorCode.INVALID_CONFIG, contradiction.getMessage());
        }
    }

    private static Decision checkConfig(String name, String value) {
        if (value == null) {
            return Decision.refuse(ErrorCode.INVALID_CONFIG, "no value for " + name);
        }
        try {
            TopicConfig.check(name, value);
            return null;
        } catch (ConfigException wrong) {
            return Decision.refuse(ErrorCode.INVALID_CONFIG, wrong.getMessage());
        }
    }
}
