package io.journalq.server.broker;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchRequest.OffsetFetchRequestGroup;
import io.journalq.common.protocol.message.OffsetFetchRequest.OffsetFetchRequestTopics;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.protocol.message.OffsetFetchResponse.OffsetFetchResponseGroup;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A broker in a separate process that prints the time until all of its groups are served, counted from the start of the
 * process. The client sends the requests of a Kafka client, for coordinators and then for offsets. It runs in the same
 * process, so the times include it. The process ends without closing the broker, so that its data does not change.
 */
final class BrokerProcess {
    /** Prefix of the line with the times. */
    static final String RESULT = "served: ";

    private static final int FIND_COORDINATOR_VERSION = 4;
    private static final int FETCH_VERSION = 9;
    private static final long POLL_MS = 5;

    /** One of this many groups is checked completely. */
    private static final int LOOK_AT_EVERY = 97;

    private BrokerProcess() {}

    /**
     * Arguments: the data directory, the name of a topic, the number of groups ({@code group-0} and so on), and the
     * number of partitions with an offset of each group. The leader epoch of each offset is the number of its group.
     * Prints times in milliseconds: from the start of the process, until the ports were open, from the broker's start,
     * and processor time.
     */
    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1];
        int groups = Integer.parseInt(arguments[2]);
        long beginNanos = System.nanoTime();
        Broker broker = Broker.start(config(arguments[0]));
        long startedNanos = System.nanoTime();
        try (WireClient client = new WireClient(broker.listeners().get(0).port())) {
            while (!areServed(client, topic, groups)) {
                Thread.sleep(POLL_MS);
            }
            long servedMs = System.currentTimeMillis();
            long servedNanos = System.nanoTime();
            long processorMs = ProcessHandle.current()
                    .info()
                    .totalCpuDuration()
                    .orElseThrow()
                    .toMillis();
            for (int group = 0; group < groups; group += LOOK_AT_EVERY) {
                expectAll(client, topic, group, Integer.parseInt(arguments[3]));
            }
            System.out.println(RESULT
                    + (servedMs - ManagementFactory.getRuntimeMXBean().getStartTime())
                    + " " + TimeUnit.NANOSECONDS.toMillis(startedNanos - beginNanos)
                    + " " + TimeUnit.NANOSECONDS.toMillis(servedNanos - beginNanos)
                    + " " + processorMs);
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    static BrokerConfig config(String dataDirectory) throws ConfigException {
        return BrokerConfig.defaults()
                .with("listeners", "PLAINTEXT://127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                .with("admin.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("gateway.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("data.directories", dataDirectory, ConfigOrigin.COMMAND_LINE);
    }

    private static boolean areServed(WireClient client, String topic, int groups) throws IOException {
        awaitLoaded(client, groups);
        List<OffsetFetchResponseGroup> responses = fetch(
                client,
                IntStream.range(0, groups)
                        .mapToObj(group -> asked(topic, group, List.of(0)))
                        .toList());
        if (responses.stream()
                .anyMatch(response -> response.errorCode() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.code())) {
            return false;
        }
        for (int group = 0; group < groups; group++) {
            expect(responses.get(group), group, 1);
        }
        return true;
    }

    /** The response waits for the coordinators, but not forever. */
    static void awaitLoaded(WireClient client, int groups) throws IOException {
        List<String> ids =
                IntStream.range(0, groups).mapToObj(group -> "group-" + group).toList();
        client.call(
                FindCoordinatorResponse.class,
                new FindCoordinatorRequest().setCoordinatorKeys(ids),
                FIND_COORDINATOR_VERSION);
    }

    private static void expectAll(WireClient client, String topic, int group, int partitions) throws IOException {
        List<Integer> all = IntStream.range(0, partitions).boxed().toList();
        expect(fetch(client, List.of(asked(topic, group, all))).get(0), group, partitions);
    }

    private static OffsetFetchRequestGroup asked(String topic, int group, List<Integer> partitions) {
        return new OffsetFetchRequestGroup()
                .setGroupId("group-" + group)
                .setMemberEpoch(-1)
                .setTopics(List.of(new OffsetFetchRequestTopics().setName(topic).setPartitionIndexes(partitions)));
    }

    private static List<OffsetFetchResponseGroup> fetch(WireClient client, List<OffsetFetchRequestGroup> asked)
            throws IOException {
        return client.call(OffsetFetchResponse.class, new OffsetFetchRequest().setGroups(asked), FETCH_VERSION)
                .groups();
    }

    private static void expect(OffsetFetchResponseGroup response, int group, int partitions) {
        if (response.errorCode() != ErrorCode.NONE.code()) {
            throw new AssertionError("group " + group + " is not served: " + ErrorCode.of(response.errorCode()));
        }
        var offsets = response.topics().get(0).partitions();
        long right = offsets.stream()
                .filter(one -> one.committedOffset() == 0 && one.committedLeaderEpoch() == group)
                .count();
        if (offsets.size() != partitions || right != partitions) {
            throw new AssertionError("group " + group + " has " + offsets);
        }
    }
}
