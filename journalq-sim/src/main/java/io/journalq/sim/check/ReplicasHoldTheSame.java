package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.world.Violations;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/**
 * All replicas of a partition hold the same bytes when they have caught up: the same batches at the same offsets. Brokers
 * without a replica have no files of the partition.
 */
public final class ReplicasHoldTheSame {
    private static final String INVARIANT = "ReplicasHoldTheSame";
    private static final String SEGMENT_SUFFIX = ".log";

    private final Violations violations;
    private final Path data;

    /** @param data the data directory of each broker */
    public ReplicasHoldTheSame(Violations violations, Path data) {
        this.violations = violations;
        this.data = data;
    }

    /** All replicas have caught up. */
    public void check(MetadataImage committed, List<Integer> brokers, IntFunction<SimDisk> disks) {
        for (TopicImage topic : committed.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                Path directory = data.resolve(topic.id() + "-" + number);
                for (int broker : brokers) {
                    if (!partition.replicas().contains(broker)
                            && disks.apply(broker).isDirectory(directory)) {
                        violations.report(
                                INVARIANT, "broker " + broker + " still has files of " + topic.name() + "-" + number);
                    }
                }
                byte[] first = null;
                for (int broker : partition.replicas()) {
                    byte[] bytes = read(disks.apply(broker), directory);
                    first = first == null ? bytes : first;
                    int difference = Arrays.mismatch(first, bytes);
                    if (difference >= 0) {
                        violations.report(
                                INVARIANT,
                                topic.name() + "-" + number + " differs at byte " + difference + " on brokers "
                                        + partition.replicas().get(0) + " and " + broker + ", with " + first.length
                                        + " and " + bytes.length + " bytes");
                    }
                }
            }
        }
    }

    private static byte[] read(SimDisk disk, Path directory) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            for (String name : disk.list(directory).stream().sorted().toList()) {
                if (name.endsWith(SEGMENT_SUFFIX)) {
                    all.writeBytes(disk.read(directory.resolve(name), Integer.MAX_VALUE));
                }
            }
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
        return all.toByteArray();
    }
}
