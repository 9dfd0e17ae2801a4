package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker with 1,000,000 committed offsets of 1,000 groups, started again as a process of its own. Prints how long it took
 * until all groups were served; {@code -Djournalq.start.processes=N} starts it more often.
 */
class ManyCommittedOffsetsTest {
    private static final String TOPIC = "t";
    private static final int GROUPS = 1_000;
    private static final int OFFSETS_PER_GROUP = 1_000;
    private static final int PROCESSES = Integer.getInteger("journalq.start.processes", 1);
    private static final int COMMIT_VERSION = 9;
    private static final int FETCH_VERSION = 9;

    /** Commits that are under way at the same time. */
    private static final int COMMITS_IN_FLIGHT = 4;

    /** A multiple of what it takes: it is about time that grows with the square, not about a slow machine. */
    private static final long MAX_PROCESSOR_TIME_MS = 30_000;

    private static final long LIMIT_SECONDS = 120;

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory).start();
        broker.createTopic(TOPIC, OFFSETS_PER_GROUP, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldServeAllGroupsWithoutMuchWorkWhenItStartsWithAMillionCommittedOffsets() throws Exception {
        // given
        try (WireClient client = new WireClient(broker.port())) {
            commitAll(client);
        }
        broker.stop();

        for (int i = 0; i < PROCESSES; i++) {
            // when
            long[] timesMs = startProcess();

            // then
            System.out.println("a broker with " + GROUPS * OFFSETS_PER_GROUP + " committed offsets of " + GROUPS
                    + " groups: all served " + timesMs[0] + " ms after its process began, " + timesMs[2]
                    + " ms after the broker did (" + timesMs[1] + " ms until its ports are open); processor time "
                    + timesMs[3] + " ms");
            assertThat(timesMs[3]).isLessThan(MAX_PROCESSOR_TIME_MS);
        }
        broker.start();
        try (WireClient client = new WireClient(broker.port())) {
            ManyGroups.awaitLoaded(broker, client, GROUPS);
            for (int group = 0; group < GROUPS; group += 97) {
                assertThat(committedEpochs(client, group))
                        .hasSize(OFFSETS_PER_GROUP)
                        .containsOnly(group);
            }
        }
    }

    private void commitAll(WireClient client) throws IOException {
        ManyGroups.awaitLoaded(broker, client, GROUPS);
        ArrayDeque<Integer> sent = new ArrayDeque<>();
        for (int group = 0; group < GROUPS; group++) {
            if (sent.size() == COMMITS_IN_FLIGHT) {
                expectCommitted(client, sent.remove());
            }
            sent.add(client.send(commit(group), COMMIT_VERSION));
        }
        while (!sent.isEmpty()) {
            expectCommitted(client, sent.remove());
        }
    }

    private static void expectCommitted(WireClient client, int correlationId) throws IOException {
        OffsetCommitResponse answer =
                client.receive(OffsetCommitResponse.class, ApiKey.OFFSET_COMMIT, COMMIT_VERSION, correlationId);
        assertThat(answer.topics().get(0).partitions())
                .allSatisfy(partition -> assertThat(partition.errorCode()).isZero());
    }

    /** The leader's epoch of what a group commits tells the group: most clients keep nothing else with an offset. */
    private static OffsetCommitRequest commit(int group) {
        List<OffsetCommitRequest.OffsetCommitRequestPartition> partitions = IntStream.range(0, OFFSETS_PER_GROUP)
                .mapToObj(partition -> new OffsetCommitRequest.OffsetCommitRequestPartition()
                        .setPartitionIndex(partition)
                        .setCommittedOffset(0)
                        .setCommittedLeaderEpoch(group)
                        .setCommittedMetadata(""))
                .toList();
        return new OffsetCommitRequest()
                .setGroupId("group-" + group)
                .setGenerationIdOrMemberEpoch(-1)
                .setMemberId("")
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(TOPIC)
                        .setPartitions(partitions)));
    }

    private static List<Integer> committedEpochs(WireClient client, int group) throws IOException {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId("group-" + group)
                        .setMemberEpoch(-1)
                        .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopics()
                                .setName(TOPIC)
                                .setPartitionIndexes(IntStream.range(0, OFFSETS_PER_GROUP)
                                        .boxed()
                                        .toList())))));
        return client
                .call(OffsetFetchResponse.class, request, FETCH_VERSION)
                .groups()
                .get(0)
                .topics()
                .get(0)
                .partitions()
                .stream()
                .map(OffsetFetchResponse.OffsetFetchResponsePartitions::committedLeaderEpoch)
                .toList();
    }

    private long[] startProcess() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms512m",
                        "-Xmx512m",
                        "-Dlogback.configurationFile=" + Path.of("..", "conf", "logback.xml"),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        BrokerProcess.class.getName(),
                        dataDirectory.toString(),
                        TOPIC,
                        String.valueOf(GROUPS))
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("the broker does not end: " + printed);
        }
        assertThat(process.exitValue()).as(printed).isZero();
        String times = printed.lines()
                .filter(line -> line.startsWith(BrokerProcess.RESULT))
                .findFirst()
                .orElseThrow();
        return Arrays.stream(times.substring(BrokerProcess.RESULT.length()).split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
    }
}
