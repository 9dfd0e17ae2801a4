package io.journalq.server.shard;

import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The contents and the free space of the data directories. Any thread. */
public final class DiskUsage implements LogDirectories {
    private static final Logger log = LoggerFactory.getLogger(DiskUsage.class);
    private static final long UNKNOWN = -1L;

    private final List<Path> dataDirectories;
    private final Shards shards;
    private final Executor blockingPool;

    public DiskUsage(List<Path> dataDirectories, Shards shards, Executor blockingPool) {
        this.dataDirectories = dataDirectories;
        this.shards = shards;
        this.blockingPool = blockingPool;
    }

    @Override
    public CompletionStage<List<Directory>> describe() {
        return shards.storedPartitions().thenApplyAsync(this::describe, blockingPool);
    }

    private List<Directory> describe(List<StoredPartition> stored) {
        List<Directory> described = new ArrayList<>();
        for (Path directory : dataDirectories) {
            List<PartitionSize> here = stored.stream()
                    .filter(partition -> partition.dataDirectory().equals(directory))
                    .map(partition -> new PartitionSize(partition.name(), partition.sizeBytes()))
                    .toList();
            described.add(describe(directory, here));
        }
        return described;
    }

    private static Directory describe(Path directory, List<PartitionSize> partitions) {
        String path = directory.toAbsolutePath().normalize().toString();
        try {
            FileStore disk = Files.getFileStore(directory);
            return new Directory(path, disk.getTotalSpace(), disk.getUsableSpace(), partitions);
        } catch (IOException failure) {
            log.warn("cannot read the size of the file system: directory={} reason=\"{}\"", path, failure.getMessage());
            return new Directory(path, UNKNOWN, UNKNOWN, partitions);
        }
    }
}
