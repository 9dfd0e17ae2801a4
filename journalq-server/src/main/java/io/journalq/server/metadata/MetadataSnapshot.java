package io.journalq.server.metadata;

import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.record.ClientQuotaRecord;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.ResourceConfigRecord;
import io.journalq.server.metadata.record.SnapshotEndRecord;
import io.journalq.server.metadata.record.TopicRecord;
import java.util.ArrayList;
import java.util.List;

/** The fewest records that make up a state, whatever happened on the way to it. Stateless. */
final class MetadataSnapshot {
    /** Of one record, so that a topic with very many partitions is not one record of many megabytes. */
    private static final int PARTITIONS_PER_RECORD = 1_000;

    private MetadataSnapshot() {}

    /**
     * Records that lead a new machine to the same state.
     *
     * @param nextProducerId the first producer id that was not given away
     */
    static List<Message> records(MetadataImage image, long nextProducerId) {
        List<Message> records = new ArrayList<>();
        records.add(new ClusterRecord().setClusterId(image.clusterId()));
        image.topics().forEach(topic -> addTopic(records, topic));
        records.add(new ProducerIdsRecord().setNextProducerId(nextProducerId));
        image.quotas()
                .byEntity()
                .forEach((entity, limits) ->
                        limits.forEach((key, limit) -> records.add(quotaRecord(entity, key, limit))));
        image.resources()
                .byResource()
                .forEach((resource, configs) ->
                        configs.forEach((name, value) -> records.add(resourceRecord(resource, name, value))));
        records.add(new SnapshotEndRecord().setVersion(image.version()));
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
    }

    private static PartitionState state(PartitionImage partition) {
        return new PartitionState()
                .setLeader(partition.leader())
                .setLeaderEpoch(partition.leaderEpoch())
                .setReplicas(partition.replicas())
                .setInSyncReplicas(partition.inSyncReplicas());
    }

    /**
     * A setting of what is no topic.
     *
     * @param value null for back to its default
     */
    static ResourceConfigRecord resourceRecord(ResourceId resource, String name, String value) {
        return new ResourceConfigRecord()
                .setResourceType(resource.kind().code())
                .setResourceName(resource.name())
                .setName(name)
                .setValue(value);
    }

    /**
     * A limit, or its end.
     *
     * @param limit null when there is none any more
     */
    static ClientQuotaRecord quotaRecord(QuotaEntity entity, String key, Double limit) {
        QuotaEntity.Part user = entity.user();
        QuotaEntity.Part clientId = entity.clientId();
        return new ClientQuotaRecord()
                .setUser(user != null)
                .setUserName(user == null ? null : user.name())
                .setClientId(clientId != null)
                .setClientIdName(clientId == null ? null : clientId.name())
                .setKey(key)
                .setValue(limit == null ? 0 : limit)
                .setRemove(limit == null);
    }
}
