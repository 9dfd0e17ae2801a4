package io.journalq.server.api.admin;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeLogDirsRequest;
import io.journalq.common.protocol.message.DescribeLogDirsRequest.DescribableLogDirTopic;
import io.journalq.common.protocol.message.DescribeLogDirsResponse;
import io.journalq.common.protocol.message.DescribeLogDirsResponse.DescribeLogDirsPartition;
import io.journalq.common.protocol.message.DescribeLogDirsResponse.DescribeLogDirsResult;
import io.journalq.common.protocol.message.DescribeLogDirsResponse.DescribeLogDirsTopic;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;
import io.journalq.server.shard.LogDirectories;
import io.journalq.server.shard.LogDirectories.Directory;
import io.journalq.server.shard.LogDirectories.PartitionSize;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** DescribeLogDirs, versions 1 to 4: the disk space that partitions use, and the free space (KIP-827). */
public final class DescribeLogDirsHandler implements Handler<DescribeLogDirsRequest> {
    private final LogDirectories directories;

    public DescribeLogDirsHandler(LogDirectories directories) {
        this.directories = directories;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_LOG_DIRS, 1, 4, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DescribeLogDirsRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER)) {
            context.respond(new DescribeLogDirsResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        DeferredResponse.when(directories.describe(), context, (described, failure) -> {
            DescribeLogDirsResponse response = new DescribeLogDirsResponse();
            Map<String, Set<Integer>> wanted = wanted(request);
            return failure != null
                    ? response.setErrorCode(ErrorCode.KAFKA_STORAGE_ERROR.code())
                    : response.setResults(described.stream()
                            .map(directory -> result(directory, wanted))
                            .toList());
        });
    }

    /** The wanted partitions by topic; null for all. There may be very many. */
    private static Map<String, Set<Integer>> wanted(DescribeLogDirsRequest request) {
        if (request.topics() == null) {
            return null;
        }
        Map<String, Set<Integer>> wanted = new HashMap<>();
        for (DescribableLogDirTopic topic : request.topics()) {
            wanted.computeIfAbsent(topic.topic(), none -> new HashSet<>()).addAll(topic.partitions());
        }
        return wanted;
    }

    private static DescribeLogDirsResult result(Directory directory, Map<String, Set<Integer>> wanted) {
        Map<String, List<DescribeLogDirsPartition>> byTopic = new TreeMap<>();
        for (PartitionSize size : directory.partitions()) {
            String topicName = size.partition().topic();
            if (wanted == null
                    || wanted.getOrDefault(topicName, Set.of())
                            .contains(size.partition().partition())) {
                byTopic.computeIfAbsent(topicName, topic -> new ArrayList<>())
                        .add(new DescribeLogDirsPartition()
                                .setPartitionIndex(size.partition().partition())
                                .setPartitionSize(size.sizeBytes()));
            }
        }
        List<DescribeLogDirsTopic> topics = new ArrayList<>();
        byTopic.forEach((name, partitions) ->
                topics.add(new DescribeLogDirsTopic().setName(name).setPartitions(partitions)));
        return new DescribeLogDirsResult()
                .setLogDir(directory.path())
                .setTotalBytes(directory.totalBytes())
                .setUsableBytes(directory.usableBytes())
                .setTopics(topics);
    }
}
