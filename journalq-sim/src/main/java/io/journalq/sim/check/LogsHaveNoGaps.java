package io.journalq.sim.check;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.world.Violations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The log of a replica has no gap, whatever a crash has left of it. Otherwise the replica would fetch from its end on, and
 * acknowledge records that it lacks.
 */
public final class LogsHaveNoGaps {
    private static final String INVARIANT = "LogsHaveNoGaps";
    private static final String SEGMENT_SUFFIX = ".log";
    private static final String TAIL_SUFFIX = ".tail";

    private final Violations violations;
    private final Path data;

    /** @param data the data directory of each broker */
    public LogsHaveNoGaps(Violations violations, Path data) {
        this.violations = violations;
        this.data = data;
    }

    /** A broker has recovered its logs. */
    public void onRecovered(MetadataImage committed, int broker, SimDisk disk) {
        for (TopicImage topic : committed.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                if (partition.replicas().size() > 1 && partition.replicas().contains(broker)) {
                    check(topic.name() + "-" + number, broker, disk, data.resolve(topic.id() + "-" + number));
                }
            }
        }
    }

    private void check(String partition, int broker, SimDisk disk, Path directory) {
        try {
            if (!disk.isDirectory(directory)) {
                return;
            }
            long end = -1;
            for (String name : disk.list(directory).stream().sorted().toList()) {
                if (!name.endsWith(SEGMENT_SUFFIX) && !name.endsWith(TAIL_SUFFIX)) {
                    continue;
                }
                ByteBuf segment = Unpooled.wrappedBuffer(disk.read(directory.resolve(name), Integer.MAX_VALUE));
                for (int at = 0; at < segment.readableBytes(); at += RecordBatch.sizeBytes(segment, at)) {
                    long offset = RecordBatch.baseOffset(segment, at);
                    if (end >= 0 && offset != end) {
                        violations.report(
                                INVARIANT,
                                "broker " + broker + " has recovered " + partition + " with a gap from " + end + " to "
                                        + offset);
                        return;
                    }
                    end = RecordBatch.nextOffset(segment, at);
                }
            }
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
