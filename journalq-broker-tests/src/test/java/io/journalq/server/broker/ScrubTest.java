package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker that is alone reads its records from time to time. BrokerClusterTest has others, from which it can heal. */
class ScrubTest {
    private static final String TOPIC = "orders";
    private static final int BATCHES = 5;
    private static final int BATCH_BYTES = 700;

    @TempDir
    private Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("admin.listener", "127.0.0.1:0")
                .with("scrub.interval.ms", "20")
                .start();
        broker.createTopic(TOPIC, 1, Map.of("segment.bytes", "1024"));
        try (WireClient client = new WireClient(broker.port())) {
            for (int i = 0; i < BATCHES; i++) {
                client.produce(TOPIC, 0, WireClient.batch(1, new byte[BATCH_BYTES]));
            }
        }
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private double metric(String name) {
        try {
            Matcher value = Pattern.compile("(?m)^" + name + " (\\S+)$")
                    .matcher(broker.page("/metrics").body());
            assertThat(value.find()).as(name).isTrue();
            return Double.parseDouble(value.group(1));
        } catch (IOException failure) {
            throw new AssertionError(failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError(interrupted);
        }
    }

    /** Waits for a pass that has begun after now. */
    private void awaitPass() throws InterruptedException {
        double before = metric("journalq_scrub_passes_total");
        broker.await(() -> metric("journalq_scrub_passes_total") >= before + 2);
    }

    @Test
    void shouldReadAllRecordsAndFindNothingWhenTheyAreHealthy() throws Exception {
        awaitPass();

        assertThat(metric("journalq_scrub_read_bytes_total")).isGreaterThan(BATCHES * BATCH_BYTES);
        assertThat(metric("journalq_damage_found_total")).isZero();
    }

    @Test
    void shouldReportDamageOnceWhenAByteOfAClosedSegmentChanges() throws Exception {
        // given
        Path segment;
        try (Stream<Path> directories = Files.list(directory)) {
            segment = directories
                    .filter(path -> path.getFileName().toString().matches("[A-Za-z0-9_-]{22}-0"))
                    .findFirst()
                    .orElseThrow()
                    .resolve("0".repeat(20) + ".log");
        }

        // when
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.seek(300);
            file.write(1);
        }

        // then
        broker.await(() -> metric("journalq_damage_found_total") == 1);
        assertThat(metric("journalq_damage_unhealed")).isEqualTo(1);
        awaitPass();
        assertThat(metric("journalq_damage_found_total")).isEqualTo(1);
        assertThat(metric("journalq_damage_healing_failures_total")).isZero();
    }
}
