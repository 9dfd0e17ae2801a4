package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A client during a flood: it repeatedly produces, commits an offset and requests metadata, and fails on any error. It
 * knows its topic and has committed before the flood begins, like a client that is running when an attack begins.
 */
final class HealthyClient implements AutoCloseable {
    static final String TOPIC = "healthy";

    private static final int INTERVAL_MS = 10;
    private static final int SETTLE_SECONDS = 30;

    private final WireClient client;
    private final Thread thread = new Thread(this::run, "healthy-client");
    private final List<Long> roundsMs = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean stopped;
    private volatile Throwable failure;

    HealthyClient(int port) throws IOException, InterruptedException {
        client = new WireClient(port);
        CreateTopicsResponse created = client.call(
                CreateTopicsResponse.class,
                new CreateTopicsRequest()
                        .setTimeoutMs(10_000)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName(TOPIC)
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1))),
                5);
        assertThat(ErrorCode.of(created.topics().get(0).errorCode()))
                .isIn(ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS);
        for (byte kind = 0; kind <= 1; kind++) {
            client.call(
                    FindCoordinatorResponse.class,
                    new FindCoordinatorRequest().setKey(TOPIC).setKeyType(kind),
                    2);
        }
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
        while (commit() != ErrorCode.NONE) {
            assertThat(System.nanoTime()).as("the group's coordinator loads").isLessThan(deadlineNanos);
            Thread.sleep(INTERVAL_MS);
        }
        thread.start();
    }

    private ErrorCode commit() throws IOException {
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(TOPIC)
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(TOPIC)
                        .setPartitions(List.of(
                                new OffsetCommitRequest.OffsetCommitRequestPartition().setCommittedOffset(1)))));
        OffsetCommitResponse response = client.call(OffsetCommitResponse.class, request, 7);
        return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }

    private void run() {
        try {
            while (!stopped) {
                long beginNanos = System.nanoTime();
                round();
                roundsMs.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos));
                Thread.sleep(INTERVAL_MS);
            }
        } catch (IOException | InterruptedException | RuntimeException | AssertionError wrong) {
            failure = wrong;
        }
    }

    private void round() throws IOException {
        var produced = client.produce(TOPIC, 0, WireClient.batch(1, new byte[100]));
        assertThat(ErrorCode.of(produced.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(commit()).isEqualTo(ErrorCode.NONE);
        MetadataResponse metadata = client.call(
                MetadataResponse.class,
                new MetadataRequest().setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(TOPIC))),
                8);
        assertThat(metadata.topics().get(0).partitions()).hasSize(1);
    }

    /**
     * Ends the client, and fails unless every round succeeded and was in time.
     *
     * @param maxMedianMs bound of the median round of three requests
     * @param maxMs bound of every round
     */
    void stopAndAssertServed(String during, long maxMedianMs, long maxMs) throws InterruptedException {
        stopped = true;
        thread.join();
        assertThat(failure).as("the healthy client during %s", during).isNull();
        List<Long> sorted = new ArrayList<>(roundsMs);
        Collections.sort(sorted);
        assertThat(sorted).as("rounds of the healthy client during %s", during).isNotEmpty();
        assertThat(sorted.get(sorted.size() / 2))
                .as("median round during %s", during)
                .isLessThan(maxMedianMs);
        assertThat(sorted.get(sorted.size() - 1))
                .as("longest round during %s", during)
                .isLessThan(maxMs);
        System.out.println(summary(during, sorted));
    }

    private static String summary(String during, List<Long> sorted) {
        return "beside " + during + ": rounds=" + sorted.size() + " medianMs=" + sorted.get(sorted.size() / 2)
                + " p99Ms=" + sorted.get(sorted.size() * 99 / 100) + " maxMs=" + sorted.get(sorted.size() - 1);
    }

    @Override
    public void close() throws IOException {
        stopped = true;
        client.close();
    }
}
