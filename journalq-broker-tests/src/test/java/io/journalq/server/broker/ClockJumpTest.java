package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.SystemFileStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Retention by time when a broker starts with a clock that has jumped. */
class ClockJumpTest {
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);
    private static final int CHECK_INTERVAL_MS = 20;

    @TempDir
    private Path directory;

    private TestBroker broker;

    @BeforeEach
    void keepAMessage() throws Exception {
        broker = new TestBroker(directory)
                .with("admin.listener", "127.0.0.1:0")
                .with("log.retention.check.interval.ms", String.valueOf(CHECK_INTERVAL_MS))
                .start();
        broker.createTopic(PARTITION.topic(), 1, Map.of("retention.ms", "86400000"));
        try (WireClient client = new WireClient(broker.port())) {
            client.produce(PARTITION.topic(), 0, WireClient.batch(1, "kept".getBytes(StandardCharsets.UTF_8)));
        }
        broker.stop();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private void startAfter(Duration later) throws Exception {
        broker.start(new SystemFileStore(), Clock.offset(Clock.systemUTC(), later));
    }

    private long beginning() {
        try (var admin = broker.admin()) {
            return admin.listOffsets(Map.of(PARTITION, org.apache.kafka.clients.admin.OffsetSpec.earliest()))
                    .partitionResult(PARTITION)
                    .get()
                    .offset();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldDeleteNothingWhenTheClockIs400DaysAheadAtTheStart() throws Exception {
        // when
        startAfter(Duration.ofDays(400));
        Thread.sleep(20 * CHECK_INTERVAL_MS);

        // then
        assertThat(broker.readAll(List.of(PARTITION), 1)).hasSize(1);
        assertThat(broker.page("/metrics").body()).contains("journalq_retention_paused 1");
    }

    @Test
    void shouldDeleteNothingWhenTheClockIsFarAheadAndNoTimeWasKept() throws Exception {
        // given a directory of a release that stored no time
        Files.delete(directory.resolve("journalq.clock"));

        // when
        startAfter(Duration.ofDays(400));
        Thread.sleep(20 * CHECK_INTERVAL_MS);

        // then
        assertThat(broker.readAll(List.of(PARTITION), 1)).hasSize(1);
    }

    @Test
    void shouldDeleteWhatIsTooOldWhenTheBrokerWasOffForAWeekend() throws Exception {
        // when
        startAfter(Duration.ofDays(3));

        // then
        broker.await(() -> beginning() == 1);
    }

    @Test
    void shouldDeleteWhatIsTooOldWhenTheOperatorConfirmsTheClock() throws Exception {
        // when
        broker.with("retention.clock.jump.max.ms", "-1");
        startAfter(Duration.ofDays(400));

        // then
        broker.await(() -> beginning() == 1);
    }
}
