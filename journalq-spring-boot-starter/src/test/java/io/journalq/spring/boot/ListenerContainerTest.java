package io.journalq.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.BatchOpener;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.journalq.embedded.junit.JournalQExtension;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** What a listener receives when the records of a poll cannot be read. */
@Timeout(60)
final class ListenerContainerTest {
    @RegisterExtension
    static final JournalQExtension BROKER =
            JournalQExtension.of(JournalQ.embedded().inMemory());

    static final class Values {
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "values")
        void receive(ConsumerRecord record) {
            received.add(new String(record.value(), UTF_8));
        }
    }

    static final class SlowValues {
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "values")
        void receive(ConsumerRecord record) throws InterruptedException {
            Thread.sleep(100);
            received.add(new String(record.value(), UTF_8));
        }
    }

    /** Fails once, at the batch of an offset. */
    private static final class FailingOpener implements BatchOpener {
        private final long offset;
        private final Failure failure;
        private boolean failed;

        private FailingOpener(long offset, Failure failure) {
            this.offset = offset;
            this.failure = failure;
        }

        @Override
        public void start(TopicPartition partition, long from, String state) {}

        @Override
        public void truncate(TopicPartition partition, long from) {}

        @Override
        public void stop(TopicPartition partition) {}

        @Override
        public void open(TopicPartition partition, ByteBuf batches, int index, ByteBuf out) {
            out.writeBytes(batches, index, RecordBatch.sizeBytes(batches, index));
            if (!failed && RecordBatch.baseOffset(batches, index) == offset) {
                failed = true;
                failure.afterBatch(out);
            }
        }

        @Override
        public String state(TopicPartition partition) {
            return "";
        }

        @Override
        public long missingBatches() {
            return 0;
        }

        @Override
        public void close() {}
    }

    /** How a batch cannot be read. */
    private interface Failure {
        void afterBatch(ByteBuf out);
    }

    @Test
    void shouldReceiveEveryRecordWhenABatchCannotBeReadAtFirst(EmbeddedBroker broker) throws Exception {
        assertReceivesAll(broker, "unreadable", 2, out -> {
            int last = out.writerIndex() - 1;
            out.setByte(last, out.getByte(last) ^ 0x55); // the number of headers
        });
    }

    @Test
    void shouldReceiveEveryRecordWhenAPollFailsWithAnError(EmbeddedBroker broker) throws Exception {
        assertReceivesAll(broker, "exhausted", 0, out -> {
            throw new OutOfMemoryError("no direct memory");
        });
    }

    @Test
    void shouldReceiveEveryRecordOnceWhenThoseOfAPollTakeLongerThanTheGroupWaits(EmbeddedBroker broker)
            throws Exception {
        // given records for 6 s in one batch
        int count = 60;
        Duration maxPollInterval = Duration.ofSeconds(3);
        try (Producer producer =
                Producer.builder().bootstrapServers(broker.bootstrapServers()).build()) {
            producer.sendBatch(
                            "slow",
                            0,
                            IntStream.range(0, count)
                                    .mapToObj(i -> ProducerRecord.of("slow", ("" + i).getBytes(UTF_8)))
                                    .toList())
                    .join();
        }
        Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .groupId("slow")
                .startAt(Consumer.Start.BEGINNING)
                .maxPollInterval(maxPollInterval)
                .build();
        SlowValues values = new SlowValues();
        ListenerContainer container = container(consumer, "slow", values, maxPollInterval);
        // when
        container.start();
        // then
        try {
            for (int i = 0; i < count; i++) {
                assertThat(values.received.poll(20, TimeUnit.SECONDS)).isEqualTo("" + i);
            }
            assertThat(values.received.poll(6, TimeUnit.SECONDS)).isNull();
        } finally {
            container.stop();
        }
    }

    private static void assertReceivesAll(EmbeddedBroker broker, String topic, long offset, Failure failure)
            throws Exception {
        // given three batches
        try (Producer producer = Producer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .compression(CompressionCodec.NONE)
                .build()) {
            for (int batch = 0; batch < 3; batch++) {
                int first = 2 * batch;
                producer.sendBatch(
                                topic,
                                0,
                                IntStream.range(first, first + 2)
                                        .mapToObj(i -> ProducerRecord.of(topic, ("" + i).getBytes(UTF_8)))
                                        .toList())
                        .join();
            }
        }
        Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .groupId(topic)
                .startAt(Consumer.Start.BEGINNING)
                .open(keys -> new FailingOpener(offset, failure))
                .build();
        Values values = new Values();
        ListenerContainer container = container(consumer, topic, values, Duration.ofMinutes(5));
        // when
        container.start();
        // then
        try {
            for (int i = 0; i < 6; i++) {
                assertThat(values.received.poll(20, TimeUnit.SECONDS)).isEqualTo("" + i);
            }
        } finally {
            container.stop();
        }
        assertThat(values.received).isEmpty();
    }

    private static ListenerContainer container(Consumer consumer, String topic, Object values, Duration maxPollInterval)
            throws Exception {
        JournalQProperties properties = new Binder(
                        new MapConfigurationPropertySource(Map.of("journalq.listener.retry-delay", "20ms")))
                .bindOrCreate("journalq", JournalQProperties.class);
        var receive = values.getClass().getDeclaredMethod("receive", ConsumerRecord.class);
        ListenerMethod method = new ListenerMethod(
                values,
                receive,
                receive.getAnnotation(JournalQListener.class),
                properties,
                new NamedSerdes(new DefaultListableBeanFactory()));
        return new ListenerContainer(
                topic, method, consumer, List.of(topic), properties.listener(), maxPollInterval, (record, cause) -> {
                    throw new AssertionError("the method does not fail", cause);
                });
    }
}
