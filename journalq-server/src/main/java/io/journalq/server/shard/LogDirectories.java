package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The data directories, for DescribeLogDirs. Any thread. */
@FunctionalInterface
public interface LogDirectories {
    /** Every data directory with its current contents. */
    CompletionStage<List<Directory>> describe();

    /**
     * A data directory.
     *
     * @param path absolute path
     * @param totalBytes size of its file system; -1 if unknown
     * @param usableBytes free space for the broker; -1 if unknown
     */
    record Directory(String path, long totalBytes, long usableBytes, List<PartitionSize> partitions) {}

    /**
     * The disk space of one partition.
     *
     * @param sizeBytes size of its log files
     */
    record PartitionSize(TopicPartition partition, long sizeBytes) {}
}
