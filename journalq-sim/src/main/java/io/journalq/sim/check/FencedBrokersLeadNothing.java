package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.world.Violations;

/** In the metadata, a fenced broker leads no partition, and is in sync with none. */
public final class FencedBrokersLeadNothing {
    private static final String INVARIANT = "FencedBrokersLeadNothing";

    private final Violations violations;

    public FencedBrokersLeadNothing(Violations violations) {
        this.violations = violations;
    }

    /** The quorum has committed metadata. */
    public void onMetadata(MetadataImage committed) {
        for (TopicImage topic : committed.topics()) {
            for (PartitionImage partition : topic.partitions()) {
                boolean isLed = !partition.hasLeader() || committed.liveBroker(partition.leader()) != null;
                boolean isInSync =
                        partition.inSyncReplicas().stream().allMatch(node -> committed.liveBroker(node) != null);
                if (!isLed || !isInSync) {
                    violations.report(
                            INVARIANT,
                            "topic " + topic.name() + " has " + partition + " with the brokers " + committed.brokers());
                }
            }
        }
    }
}
