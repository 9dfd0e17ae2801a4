package io.journalq.server.api.admin;

import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What DescribeLogDirs needs to know of the disks; the shards know it. Any thread. */
@FunctionalInterface
public interface LogDirectories {
    /** Every data folder with what it holds, as of now. */
    CompletionStage<List<Directory>> describe();

    /**
     * A data folder.
     *
     * @param path absolute
     * @param totalBytes size of its file system; -1 when unknown
     * @param usableBytes what is free for the broker; -1 when unknown
     */
    record Directory(String path, long totalBytes, long usableBytes, List<PartitionSize> partitions) {}

    /**
     * What one partition occupies.
     *
     * @param sizeBytes of its log files
     */
    record PartitionSize(TopicPartition partition, long sizeBytes) {}
}
