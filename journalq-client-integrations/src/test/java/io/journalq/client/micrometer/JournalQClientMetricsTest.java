package io.journalq.client.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class JournalQClientMetricsTest {
    @Test
    void shouldCountWhatTheClientsDoAndKeepTheCountsWhenTheyAreClosed() {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start()) {
            Producer producer = Producer.builder()
                    .bootstrapServers(broker.bootstrapServers())
                    .build();
            Consumer consumer = Consumer.builder()
                    .bootstrapServers(broker.bootstrapServers())
                    .startAt(Consumer.Start.BEGINNING)
                    .build();
            JournalQClientMetrics.of(producer, Tags.of("client", "billing")).bindTo(registry);
            JournalQClientMetrics.of(consumer, Tags.of("client", "billing")).bindTo(registry);
            // when
            producer.send(ProducerRecord.of("orders", 0, null, new byte[100]));
            producer.send(ProducerRecord.of("orders", 0, null, new byte[100]));
            consumer.assign(consumer.partitionsOf("orders"));
            int records = 0;
            while (records < 2) {
                records += consumer.poll(Duration.ofSeconds(10)).count();
            }
            // then
            assertCounts(registry);
            producer.close();
            consumer.close();
            assertCounts(registry);
        }
    }

    @Test
    void shouldGoOnCountingWhenTheBinderIsCollected() throws InterruptedException {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start();
                Producer producer = Producer.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .build();
                Consumer consumer = Consumer.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .startAt(Consumer.Start.BEGINNING)
                        .build()) {
            // given
            JournalQClientMetrics binder = JournalQClientMetrics.of(consumer, Tags.of("client", "billing"));
            binder.bindTo(registry);
            WeakReference<JournalQClientMetrics> collected = new WeakReference<>(binder);
            binder = null;
            while (collected.get() != null) {
                System.gc();
                Thread.sleep(10);
            }
            // when
            producer.send(ProducerRecord.of("orders", 0, null, new byte[100]));
            consumer.assign(consumer.partitionsOf("orders"));
            while (consumer.poll(Duration.ofSeconds(10)).isEmpty()) {
                // The record arrives later.
            }
            // then
            assertThat(count(registry, "journalq.client.consumer.records")).isEqualTo(1);
        }
    }

    private static void assertCounts(MeterRegistry registry) {
        assertThat(count(registry, "journalq.client.producer.records")).isEqualTo(2);
        assertThat(count(registry, "journalq.client.producer.sent")).isGreaterThan(200);
        assertThat(count(registry, "journalq.client.consumer.records")).isEqualTo(2);
        assertThat(registry.get("journalq.client.producer.buffered").gauge().value())
                .isZero();
        assertThat(registry.get("journalq.client.producer.sent")
                        .functionCounter()
                        .getId())
                .satisfies(id -> assertThat(id.getBaseUnit()).isEqualTo("bytes"))
                .satisfies(id -> assertThat(id.getTag("client")).isEqualTo("billing"));
        for (String cause : List.of("no_broker", "unknown_topic", "lost_coordinator", "not_authorized")) {
            for (String client : List.of("producer", "consumer")) {
                assertThat(registry.get("journalq.client." + client + ".failures")
                                .tag("cause", cause)
                                .functionCounters())
                        .hasSize(1);
            }
        }
    }

    private static double count(MeterRegistry registry, String name) {
        return registry.get(name).tag("client", "billing").functionCounter().count();
    }
}
