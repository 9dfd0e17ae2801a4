package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.function.IntPredicate;

/** Soon after the disk of a broker is almost full, it leads nothing that an in-sync replica with room could lead. */
public final class BrokersWithRoomLead {
    private BrokersWithRoomLead() {}

    /**
     * Whether no leader without room could be replaced.
     *
     * @param hasRoom whether the disk of a broker has room
     */
    public static boolean holds(MetadataImage metadata, IntPredicate hasRoom) {
        return metadata.topics().stream()
                .flatMap(topic -> topic.partitions().stream())
                .noneMatch(partition -> isReplaceable(partition, metadata, hasRoom));
    }

    private static boolean isReplaceable(PartitionImage partition, MetadataImage metadata, IntPredicate hasRoom) {
        return partition.hasLeader()
                && !hasRoom.test(partition.leader())
                && partition.inSyncReplicas().stream().anyMatch(node -> hasRoom.test(node) && metadata.stays(node));
    }
}
