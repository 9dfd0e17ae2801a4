package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.RecordTooLargeException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.record.Header;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What interceptors see and change, over real sockets. */
@Timeout(60)
final class InterceptorTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final Duration LONG = Duration.ofSeconds(10);

    private final List<String> seen = new CopyOnWriteArrayList<>();
    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 1);
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void shouldSendWhatTheInterceptorsReturnWhenARecordIsSent() {
        try (Producer producer = producer()
                .interceptor(adding("first"))
                .interceptor(adding("second"))
                .build()) {
            // when
            producer.send(ProducerRecord.builder("orders")
                    .key(new byte[] {1})
                    .value("a".getBytes(UTF_8))
                    .timestampMs(77)
                    .build());
            producer.sendAsync(record("b")).join();
            producer.sendBatch("orders", 0, List.of(record("c"), record("d"))).join();
        }
        // then
        List<ConsumerRecord> records = read(4);
        assertThat(records)
                .extracting(record -> new String(record.value(), UTF_8))
                .containsExactly("a", "b", "c", "d");
        assertThat(records).allSatisfy(record -> assertThat(record.headers())
                .containsExactly(new Header("first", null), new Header("second", null)));
        assertThat(records.get(0).key()).containsExactly(1);
        assertThat(records.get(0).timestampMs()).isEqualTo(77);
        assertThat(seen).containsExactly("ack 0", "ack 0", "ack 1", "ack 1", "ack 2", "ack 2", "ack 3", "ack 3");
    }

    @Test
    void shouldTellTheFailureWhenASendFails() {
        try (Producer producer = producer()
                .maxRequestSizeBytes(1_000)
                .interceptor(adding("first"))
                .build()) {
            ProducerRecord large = ProducerRecord.of("orders", new byte[2_000]);

            assertThatThrownBy(() -> producer.send(large)).isInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(() -> producer.sendAsync(large)).isInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(() -> producer.sendBatch("orders", 0, List.of(large)))
                    .isInstanceOf(RecordTooLargeException.class);
        }
        assertThat(seen)
                .containsExactly(
                        "failed RecordTooLargeException",
                        "failed RecordTooLargeException",
                        "failed RecordTooLargeException");
    }

    @Test
    void shouldTellTheFailureWhenARecordIsNotAcknowledgedInTime() {
        cluster.faults(key -> key == ApiKey.PRODUCE ? Fault.DROP_BEFORE : Fault.NONE);
        try (Producer producer = producer()
                .deliveryTimeout(Duration.ofMillis(500))
                .interceptor(adding("first"))
                .build()) {
            assertThat(producer.sendAsync(record("a"))).failsWithin(LONG);
            assertThat(producer.sendBatch("orders", 0, List.of(record("b"), record("c"))))
                    .failsWithin(LONG);
        }
        assertThat(seen).hasSize(3).containsOnly("failed DeliveryTimedOutException");
    }

    @Test
    void shouldNotSendWhenAnInterceptorRefusesTheRecord() {
        try (Producer producer = producer()
                .interceptor(new ProducerInterceptor() {
                    @Override
                    public ProducerRecord onSend(ProducerRecord record) {
                        throw new IllegalArgumentException("not allowed");
                    }
                })
                .build()) {
            assertThatThrownBy(() -> producer.send(record("a"))).hasMessage("not allowed");
        }
        assertThat(cluster.endOffset(FIRST)).isZero();
    }

    @Test
    void shouldPassTheInterceptorsWhenARecordIsSentInATransaction() {
        cluster.transactionVersion(2);
        try (Producer producer = producer()
                .transactionalId("copier")
                .interceptor(adding("first"))
                .build()) {
            producer.inTransaction(transaction -> {
                transaction.send(record("a"));
                transaction.sendAsync(record("b")).join();
                transaction.sendBatch("orders", 0, List.of(record("c"))).join();
            });
        }
        assertThat(seen).containsExactly("ack 0", "ack 1", "ack 2");
    }

    @Test
    void shouldLogAndGoOnWhenACallOfAnInterceptorFails() {
        try (CapturedLog log = new CapturedLog();
                Producer producer = producer()
                        .interceptor(new ProducerInterceptor() {
                            @Override
                            public void onAcknowledged(ProducerRecord record, RecordMetadata metadata) {
                                throw new IllegalStateException("full");
                            }
                        })
                        .interceptor(adding("second"))
                        .build();
                Consumer consumer = consumer()
                        .interceptor(new ConsumerInterceptor() {
                            @Override
                            public void onRecords(ConsumerRecords records) {
                                throw new IllegalStateException("also full");
                            }
                        })
                        .build()) {
            // when
            assertThat(producer.send(record("a")).offset()).isZero();
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).count()).isEqualTo(1);
            // then
            assertThat(seen).containsExactly("ack 0");
            assertThat(log.lines("producer interceptor failed")).hasSize(1);
            assertThat(log.lines("consumer interceptor failed")).hasSize(1);
            assertThat(log.origins())
                    .containsExactly("io.journalq.client.Producer WARNING", "io.journalq.client.Consumer WARNING");
        }
    }

    @Test
    void shouldTellTheTimestampThatTheBrokerGaveWhenItGivesOne() {
        ProducerRecord own = record("a").toBuilder().timestampMs(77).build();
        List<Long> timestamps = new CopyOnWriteArrayList<>();
        try (Producer producer = producer()
                .interceptor(new ProducerInterceptor() {
                    @Override
                    public void onAcknowledged(ProducerRecord record, RecordMetadata metadata) {
                        timestamps.add(metadata.timestampMs());
                    }
                })
                .build()) {
            producer.sendBatch("orders", 0, List.of(own)).join();
            cluster.appendTime(5_000);
            producer.send(own);
            producer.sendBatch("orders", 0, List.of(own, record("b"))).join();
        }
        assertThat(timestamps).containsExactly(77L, 5_000L, 5_000L, 5_000L);
    }

    @Test
    void shouldLoseNothingWhenAnInterceptorFailsWithAnError() {
        try (CapturedLog log = new CapturedLog();
                Producer producer = producer()
                        .interceptor(new ProducerInterceptor() {
                            @Override
                            public void onAcknowledged(ProducerRecord record, RecordMetadata metadata) {
                                throw new NoSuchMethodError("of another release");
                            }
                        })
                        .interceptor(adding("second"))
                        .build();
                Consumer consumer = consumer()
                        .groupId("billing")
                        .autoCommit(false)
                        .interceptor(new ConsumerInterceptor() {
                            @Override
                            public void onRecords(ConsumerRecords records) {
                                throw new NoSuchMethodError("of another release");
                            }

                            @Override
                            public void onCommitted(Map<TopicPartition, CommittedOffset> offsets) {
                                throw new NoSuchMethodError("of another release");
                            }
                        })
                        .build()) {
            // when
            assertThat(producer.send(record("a")).offset()).isZero();
            producer.sendBatch("orders", 0, List.of(record("b"), record("c"))).join();
            consumer.assign(List.of(FIRST));
            int count = 0;
            while (count < 3) {
                count += consumer.poll(LONG).count();
            }
            assertThat(consumer.commitAsync()).succeedsWithin(LONG);
            // then
            assertThat(seen).containsExactly("ack 0", "ack 1", "ack 2");
            assertThat(log.lines("producer interceptor failed")).hasSize(3);
            assertThat(log.lines("consumer interceptor failed")).hasSizeGreaterThan(1);
        }
    }

    @Test
    void shouldSeeRecordsAndCommitsWhenAConsumerReads() {
        try (Producer producer = producer().build()) {
            producer.sendBatch("orders", 0, List.of(record("a"), record("b"))).join();
        }
        ConsumerInterceptor interceptor = new ConsumerInterceptor() {
            @Override
            public void onRecords(ConsumerRecords records) {
                records.visit((topic, partition, record) -> seen.add("record " + record.offset()));
            }

            @Override
            public void onCommitted(Map<TopicPartition, CommittedOffset> offsets) {
                offsets.forEach((partition, offset) -> seen.add("committed " + partition + " " + offset.offset()));
            }
        };
        try (Consumer consumer = consumer()
                .groupId("billing")
                .autoCommit(false)
                .interceptor(interceptor)
                .build()) {
            consumer.assign(List.of(FIRST));
            // when
            assertThat(consumer.poll(LONG)).hasSize(2);
            consumer.commit();
            assertThat(consumer.poll(Duration.ZERO)).isEmpty();
        }
        // then: a poll without records is not seen
        assertThat(seen).containsExactly("record 0", "record 1", "committed orders-0 2");
    }

    private ProducerInterceptor adding(String header) {
        return new ProducerInterceptor() {
            @Override
            public ProducerRecord onSend(ProducerRecord record) {
                return record.toBuilder().header(header, null).build();
            }

            @Override
            public void onAcknowledged(ProducerRecord record, RecordMetadata metadata) {
                seen.add("ack " + metadata.offset());
            }

            @Override
            public void onFailed(ProducerRecord record, Throwable failure) {
                seen.add("failed " + failure.getClass().getSimpleName());
            }
        };
    }

    private List<ConsumerRecord> read(int count) {
        List<ConsumerRecord> records = new CopyOnWriteArrayList<>();
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            while (records.size() < count) {
                consumer.poll(LONG).forEach(records::add);
            }
        }
        return records;
    }

    private static ProducerRecord record(String value) {
        return ProducerRecord.of("orders", value.getBytes(UTF_8));
    }

    private Producer.Builder producer() {
        return Producer.builder().bootstrapServers(cluster.bootstrapServers());
    }

    private Consumer.Builder consumer() {
        return Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .fetchMaxWait(Duration.ofMillis(200))
                .startAt(Consumer.Start.BEGINNING);
    }
}
