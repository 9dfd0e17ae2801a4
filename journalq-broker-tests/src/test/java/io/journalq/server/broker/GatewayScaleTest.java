package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Pages of the lists of a broker with many topics and groups. */
@Tag("long")
@Timeout(600)
class GatewayScaleTest {
    private static final Logger log = LoggerFactory.getLogger(GatewayScaleTest.class);

    private static final int TOPICS = 1_000;
    private static final int PARTITIONS = 10;
    private static final int GROUPS = 10_000;
    private static final int WARMUP_REQUESTS = 200;
    private static final int REQUESTS = 200;
    private static final int MAX_PAGE_BYTES = 64 * 1024;
    private static final int OFFSET_COMMIT_VERSION = 7;

    @TempDir
    private Path directory;

    private TestBroker broker;
    private GatewayClient gateway;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
        createTopics();
        commitOffsets();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private static String topic(int number) {
        return String.format("topic-%04d", number % TOPICS);
    }

    private void createTopics() throws Exception {
        List<NewTopic> topics = new ArrayList<>();
        for (int i = 0; i < TOPICS; i++) {
            topics.add(new NewTopic(topic(i), Optional.of(PARTITIONS), Optional.empty()));
        }
        try (Admin admin = broker.admin()) {
            admin.createTopics(topics).all().get(120, TimeUnit.SECONDS);
        }
    }

    private void commitOffsets() throws Exception {
        // The broker creates the topic of offsets when it is asked for a coordinator.
        try (Admin admin = broker.admin()) {
            admin.alterConsumerGroupOffsets(
                            "group-00000", Map.of(new TopicPartition(topic(0), 0), new OffsetAndMetadata(0)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
        }
        try (WireClient client = new WireClient(broker.port())) {
            for (int i = 0; i < GROUPS; i++) {
                assertThat(commit(client, i)).isEqualTo(ErrorCode.NONE);
            }
        }
    }

    /** The group gets offsets of all partitions of a topic. */
    private static ErrorCode commit(WireClient client, int group) throws IOException {
        List<OffsetCommitRequest.OffsetCommitRequestPartition> partitions = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions.add(new OffsetCommitRequest.OffsetCommitRequestPartition().setPartitionIndex(partition));
        }
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(String.format("group-%05d", group))
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(topic(group))
                        .setPartitions(partitions)));
        OffsetCommitResponse response = client.call(OffsetCommitResponse.class, request, OFFSET_COMMIT_VERSION);
        return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }

    /** Asks for a page many times. Returns it. */
    private String page(String path) throws Exception {
        long[] nanos = new long[REQUESTS];
        String body = "";
        for (int i = -WARMUP_REQUESTS; i < REQUESTS; i++) {
            long begun = System.nanoTime();
            HttpResponse<String> response = gateway.get(path);
            long taken = System.nanoTime() - begun;
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            body = response.body();
            if (i >= 0) {
                nanos[i] = taken;
            }
        }
        Arrays.sort(nanos);
        log.warn(
                "measured: path={} bytes={} p50Ms={} p99Ms={}",
                path,
                body.length(),
                nanos[REQUESTS / 2] / 1e6,
                nanos[REQUESTS * 99 / 100] / 1e6);
        assertThat(body.length()).isLessThan(MAX_PAGE_BYTES);
        return body;
    }

    @Test
    void shouldServeSmallPagesOfManyTopicsAndGroups() throws Exception {
        Map<String, String> pages = Map.of(
                "/v1/topics", "\"matching\":" + TOPICS + ",",
                "/v1/topics?sort=-sizeBytes", "\"matching\":" + TOPICS + ",",
                "/v1/topics?query=topic-09", "\"matching\":100,",
                "/v1/groups", "\"matching\":" + GROUPS + ",",
                "/v1/groups?query=group-099", "\"matching\":100,",
                "/v1/groups?sort=-lag", "\"matching\":" + GROUPS + ",");
        for (Map.Entry<String, String> page : pages.entrySet()) {
            assertThat(page(page.getKey())).contains(page.getValue());
        }
    }
}
