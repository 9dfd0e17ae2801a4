package io.journalq.server.metadata;

import io.journalq.common.protocol.Message;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerRegistration.FeatureLevels;
import io.journalq.server.metadata.partition.PartitionChange;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.partition.Reassignment;
import io.journalq.server.metadata.record.AclRecord;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.server.metadata.record.BrokerRecord.BrokerFeature;
import io.journalq.server.metadata.record.BrokerRecord.BrokerListener;
import io.journalq.server.metadata.record.ClientQuotaRecord;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.ControllerRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveAclRecord;
import io.journalq.server.metadata.record.RemoveScramRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.ResourceConfigRecord;
import io.journalq.server.metadata.record.ScramRecord;
import io.journalq.server.metadata.record.SnapshotEndRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/** Computes the minimal records that restore a state. Stateless. */
final class MetadataSnapshot {
    /** Maximum for one record, so that a topic with very many partitions does not become a record of many megabytes. */
    private static final int PARTITIONS_PER_RECORD = 1_000;

    /** Instead of the epoch of a registration. */
    private static final long OWN_EPOCH = -1;

    private MetadataSnapshot() {}

    /** The records that restore the state in a new machine. */
    static List<Message> records(MetadataImage image) {
        List<Message> records = new ArrayList<>();
        records.add(new ClusterRecord().setClusterId(image.clusterId()));
        if (image.controller().isElected()) {
            records.add(controllerRecord(image.controller()));
        }
        image.brokers().forEach(broker -> records.add(brokerRecord(broker)));
        image.topics().forEach(topic -> addTopic(records, topic));
        records.add(new ProducerIdsRecord().setNextProducerId(image.nextProducerId()));
        image.quotas()
                .byEntity()
                .forEach((entity, limits) ->
                        limits.forEach((key, limit) -> records.add(quotaRecord(entity, key, limit))));
        image.resources()
                .byResource()
                .forEach((resource, configs) ->
                        configs.forEach((name, value) -> records.add(resourceRecord(resource, name, value))));
        image.scram().users().forEach(user -> user.credentials()
                .values()
                .forEach(credential -> records.add(scramRecord(user.name(), credential))));
        image.acls().select(AclFilter.EVERY_ACL).forEach(acl -> records.add(aclRecord(acl)));
        records.add(new SnapshotEndRecord().setVersion(image.version()));
        return records;
    }

    /** The broker that decides on the metadata. */
    static ControllerRecord controllerRecord(ActiveController controller) {
        return new ControllerRecord().setNodeId(controller.nodeId()).setTerm(controller.term());
    }

    /** The registration of a broker. */
    static BrokerRecord brokerRecord(BrokerImage broker) {
        BrokerRegistration registration = broker.registration();
        return new BrokerRecord()
                .setNodeId(registration.nodeId())
                .setEpoch(broker.epoch())
                .setIncarnationId(registration.incarnationId())
                .setListeners(registration.listeners().stream()
                        .map(listener -> new BrokerListener()
                                .setName(listener.name())
                                .setHost(listener.host())
                                .setPort(listener.port()))
                        .toList())
                .setRack(registration.rack())
                .setFeatures(registration.features().stream()
                        .map(feature -> new BrokerFeature()
                                .setName(feature.name())
                                .setLowestLevel(feature.lowest())
                                .setHighestLevel(feature.highest()))
                        .toList())
                .setLogDirectories(registration.logDirectories())
                .setFenced(broker.fenced())
                .setLeaving(broker.leaving())
                .setFull(broker.full())
                .setServedEpoch(broker.servedEpoch() == broker.epoch() ? OWN_EPOCH : broker.servedEpoch());
    }

    /** The broker that a record registers. */
    static BrokerImage broker(BrokerRecord record) {
        BrokerRegistration registration = new BrokerRegistration(
                record.nodeId(),
                record.incarnationId(),
                record.listeners().stream()
                        .map(listener -> new ListenerAddress(listener.name(), listener.host(), listener.port()))
                        .toList(),
                record.rack(),
                record.features().stream()
                        .map(feature ->
                                new FeatureLevels(feature.name(), feature.lowestLevel(), feature.highestLevel()))
                        .toList(),
                record.logDirectories());
        long servedEpoch = record.servedEpoch() < 0 ? record.epoch() : record.servedEpoch();
        return new BrokerImage(
                registration, record.epoch(), servedEpoch, record.fenced(), record.leaving(), record.full());
    }

    /**
     * The records that remove the topics, quotas, settings, credentials and ACLs, which a snapshot of another state does
     * not replace.
     */
    static List<Message> removals(MetadataImage image) {
        List<Message> records = new ArrayList<>();
        image.topics().forEach(topic -> records.add(new RemoveTopicRecord().setTopicId(topic.id())));
        image.quotas().byEntity().forEach((entity, limits) -> limits.keySet()
                .forEach(key -> records.add(quotaRecord(entity, key, null))));
        image.resources().byResource().forEach((resource, configs) -> configs.keySet()
                .forEach(name -> records.add(resourceRecord(resource, name, null))));
        image.scram().users().forEach(user -> user.credentials()
                .keySet()
                .forEach(mechanism -> records.add(scramRemoval(user.name(), mechanism))));
        image.acls().select(AclFilter.EVERY_ACL).forEach(acl -> records.add(aclRemoval(acl)));
        return records;
    }

    private static void addTopic(List<Message> records, TopicImage topic) {
        records.add(new TopicRecord().setTopicId(topic.id()).setName(topic.name()));
        int count = topic.partitions().size();
        for (int first = 0; first < count; first += PARTITIONS_PER_RECORD) {
            List<PartitionState> states =
                    topic.partitions().subList(first, Math.min(count, first + PARTITIONS_PER_RECORD)).stream()
                            .map(MetadataSnapshot::state)
                            .toList();
            records.add(new PartitionsRecord()
                    .setTopicId(topic.id())
                    .setFirstPartition(first)
                    .setPartitions(states));
        }
        topic.configs()
                .forEach((name, value) -> records.add(
                        new ConfigRecord().setTopicId(topic.id()).setName(name).setValue(value)));
        // The replay of a new internal topic gives it these. Some may have been removed since then.
        InternalTopics.defaultsOf(topic.name()).keySet().stream()
                .filter(name -> !topic.configs().containsKey(name))
                .forEach(name -> records.add(
                        new ConfigRecord().setTopicId(topic.id()).setName(name).setValue(null)));
    }

    private static PartitionState state(PartitionImage partition) {
        return new PartitionState()
                .setLeader(partition.leader())
                .setLeaderEpoch(partition.leaderEpoch())
                .setReplicas(partition.replicas())
                .setInSyncReplicas(partition.inSyncReplicas())
                .setPartitionEpoch(partition.partitionEpoch())
                .setEligibleLeaders(partition.eligibleLeaders())
                .setLastKnownEligible(partition.lastKnownEligible())
                .setRecoveryEpoch(partition.recoveryEpoch())
                .setAddingReplicas(partition.reassignment().adding())
                .setRemovingReplicas(partition.reassignment().removing());
    }

    /** The partition that a record describes. */
    static PartitionImage partition(PartitionState state) {
        return new PartitionImage(
                state.leader(),
                state.leaderEpoch(),
                state.partitionEpoch(),
                state.replicas(),
                state.inSyncReplicas(),
                state.eligibleLeaders(),
                state.lastKnownEligible(),
                state.recoveryEpoch(),
                reassignment(state.addingReplicas(), state.removingReplicas()));
    }

    private static Reassignment reassignment(List<Integer> adding, List<Integer> removing) {
        return adding.isEmpty() && removing.isEmpty() ? Reassignment.NONE : new Reassignment(adding, removing);
    }

    /** The change of a partition. */
    static ChangeState change(int partition, PartitionChange change) {
        return new ChangeState()
                .setPartition(partition)
                .setLeader(change.leader())
                .setInSyncReplicas(change.inSyncReplicas())
                .setEligibleLeaders(change.eligibleLeaders())
                .setLastKnownEligible(change.lastKnownEligible())
                .setRecovering(change.recovering())
                .setReplicas(change.replicas())
                .setAddingReplicas(
                        change.reassignment() == null
                                ? null
                                : change.reassignment().adding())
                .setRemovingReplicas(
                        change.reassignment() == null
                                ? null
                                : change.reassignment().removing());
    }

    /** The change that a record describes. */
    static PartitionChange change(ChangeState state) {
        return new PartitionChange(
                state.leader(),
                state.replicas(),
                state.inSyncReplicas(),
                state.eligibleLeaders(),
                state.lastKnownEligible(),
                state.recovering(),
                state.addingReplicas() == null || state.removingReplicas() == null
                        ? null
                        : reassignment(state.addingReplicas(), state.removingReplicas()));
    }

    /**
     * A configuration value of a resource other than a topic.
     *
     * @param value null to restore the default
     */
    static ResourceConfigRecord resourceRecord(ResourceId resource, String name, String value) {
        return new ResourceConfigRecord()
                .setResourceType(resource.kind().code())
                .setResourceName(resource.name())
                .setName(name)
                .setValue(value);
    }

    /** A credential of a user. */
    static ScramRecord scramRecord(String user, ScramCredential credential) {
        return new ScramRecord()
                .setUser(user)
                .setMechanism(credential.mechanism().type())
                .setSalt(Unpooled.wrappedBuffer(credential.salt()))
                .setIterations(credential.iterations())
                .setStoredKey(Unpooled.wrappedBuffer(credential.storedKey()))
                .setServerKey(Unpooled.wrappedBuffer(credential.serverKey()));
    }

    /** The removal of a credential. */
    static RemoveScramRecord scramRemoval(String user, ScramMechanism mechanism) {
        return new RemoveScramRecord().setUser(user).setMechanism(mechanism.type());
    }

    /** An ACL. */
    static AclRecord aclRecord(Acl acl) {
        return new AclRecord()
                .setResourceType(acl.resource().type().code())
                .setPatternType(acl.resource().pattern().code())
                .setResourceName(acl.resource().name())
                .setPrincipal(acl.principal())
                .setHost(acl.host())
                .setOperation(acl.operation().code())
                .setPermissionType(acl.permission().code());
    }

    /** The removal of an ACL. */
    static RemoveAclRecord aclRemoval(Acl acl) {
        return new RemoveAclRecord()
                .setResourceType(acl.resource().type().code())
                .setPatternType(acl.resource().pattern().code())
                .setResourceName(acl.resource().name())
                .setPrincipal(acl.principal())
                .setHost(acl.host())
                .setOperation(acl.operation().code())
                .setPermissionType(acl.permission().code());
    }

    /** The ACL that a record adds. */
    static Acl acl(AclRecord record) {
        return checked(
                AclResourceType.of(record.resourceType()),
                AclPattern.of(record.patternType()),
                record.resourceName(),
                record.principal(),
                record.host(),
                AclOperation.of(record.operation()),
                AclPermission.of(record.permissionType()));
    }

    /** The ACL that a record removes. */
    static Acl acl(RemoveAclRecord record) {
        return checked(
                AclResourceType.of(record.resourceType()),
                AclPattern.of(record.patternType()),
                record.resourceName(),
                record.principal(),
                record.host(),
                AclOperation.of(record.operation()),
                AclPermission.of(record.permissionType()));
    }

    private static Acl checked(
            AclResourceType type,
            AclPattern pattern,
            String name,
            String principal,
            String host,
            AclOperation operation,
            AclPermission permission) {
        if (type == null || pattern == null || operation == null || permission == null) {
            throw new IllegalArgumentException("an ACL of an unknown kind for '" + name + "'");
        }
        return new Acl(new AclResource(type, pattern, name), principal, host, operation, permission);
    }

    private static String addressOf(QuotaEntity entity) {
        if (entity.address() == null) {
            return null;
        }
        return entity.address().name() == null ? "" : entity.address().name();
    }

    /**
     * A quota, or its removal.
     *
     * @param limit null to remove it
     */
    static ClientQuotaRecord quotaRecord(QuotaEntity entity, String key, Double limit) {
        QuotaEntity.Part user = entity.user();
        QuotaEntity.Part clientId = entity.clientId();
        return new ClientQuotaRecord()
                .setUser(user != null)
                .setUserName(user == null ? null : user.name())
                .setClientId(clientId != null)
                .setClientIdName(clientId == null ? null : clientId.name())
                .setAddress(addressOf(entity))
                .setKey(key)
                .setValue(limit == null ? 0 : limit)
                .setRemove(limit == null);
    }
}
