package io.journalq.server.broker;

import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopic;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the heap of topics with one partition: creates them in a broker in this process, and compares the live heap
 * before and after. Arguments: an empty directory, the number of topics, and optionally {@code histogram} to print the
 * largest classes. The results are in docs/guides/operations.md and docs/decisions/0018-memory-budget.md.
 */
final class TopicCostRun {
    private static final int TOPICS_PER_REQUEST = 1_000;
    private static final int HISTOGRAM_LINES = 60;

    private TopicCostRun() {}

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        try (TestBroker broker = new TestBroker(Path.of(arguments[0]))
                        .with("max.partitions", "10000000")
                        .with("memory.metadata.max.bytes", "1099511627776")
                        .start();
                WireClient client = new WireClient(broker.port())) {
            createTopics(client, "warm-up-", 100);
            long before = HeapUse.liveBytes(ProcessHandle.current().pid());
            long beginNanos = System.nanoTime();
            createTopics(client, "topic-", count);
            long tookMs = (System.nanoTime() - beginNanos) / 1_000_000;
            long after = HeapUse.liveBytes(ProcessHandle.current().pid());
            System.out.println("topics=" + count + " createdInMs=" + tookMs + " heapBytes=" + (after - before)
                    + " bytesPerTopic=" + (after - before) / count);
            if (arguments.length > 2) {
                HeapUse.histogram(ProcessHandle.current().pid()).stream()
                        .limit(HISTOGRAM_LINES)
                        .forEach(System.out::println);
            }
        }
        System.exit(0);
    }

    /** Creates topics of one partition, named by a prefix and a number. */
    static void createTopics(WireClient client, String prefix, int count) throws Exception {
        for (int first = 0; first < count; first += TOPICS_PER_REQUEST) {
            List<CreatableTopic> topics = new ArrayList<>();
            for (int i = first; i < Math.min(count, first + TOPICS_PER_REQUEST); i++) {
                topics.add(new CreatableTopic()
                        .setName(prefix + i)
                        .setNumPartitions(1)
                        .setReplicationFactor((short) 1));
            }
            CreateTopicsResponse response = client.call(
                    CreateTopicsResponse.class,
                    new CreateTopicsRequest().setTopics(topics).setTimeoutMs(60_000),
                    7);
            response.topics().forEach(created -> {
                if (created.errorCode() != 0) {
                    throw new AssertionError(created.name() + ": " + created.errorMessage());
                }
            });
        }
    }
}
