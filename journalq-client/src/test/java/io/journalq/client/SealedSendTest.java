package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealingException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever brokers and connections do, sealed batches are in the log in the order of their places, and each is sealed
 * once. One seed decides the faults.
 */
@Timeout(60)
final class SealedSendTest {
    private static final int BROKERS = 2;
    private static final int PARTITIONS = 2;
    private static final int THREADS = 6;
    private static final int RECORDS = 150;
    private static final int FAULTS = 40;
    private static final int CLOSED_PRODUCERS = 500;
    /** Records of this size are sent without a copy. */
    private static final int LARGE_BYTES = 100_000;

    private static final List<Fault> KINDS =
            Stream.of(Fault.values()).filter(kind -> kind != Fault.DEAF).toList();

    /** Writes the place of a batch before each value. */
    private static final class PlaceSealer implements BatchSealer {
        private final Map<TopicPartition, AtomicLong> next = new ConcurrentHashMap<>();
        private final Set<String> sealed = ConcurrentHashMap.newKeySet();
        private final AtomicInteger repeated = new AtomicInteger();
        private final AtomicInteger prepared = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();

        @Override
        public void prepare(String topic) {
            prepared.incrementAndGet();
        }

        @Override
        public Place place(TopicPartition partition) {
            long number =
                    next.computeIfAbsent(partition, key -> new AtomicLong()).getAndIncrement();
            return batch -> {
                if (!sealed.add(partition + "#" + number)) {
                    repeated.incrementAndGet();
                }
                return seal(batch, number);
            };
        }

        private static ByteBuf seal(ByteBuf batch, long number) {
            try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT);
                    BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
                reader.reset(batch);
                reader.nextBatch();
                builder.setProducerState(
                        reader.producerId(),
                        RecordBatch.producerEpoch(batch, 0),
                        RecordBatch.baseSequence(batch, 0),
                        false);
                while (reader.next()) {
                    String value = number + "|" + reader.value().toString(UTF_8);
                    builder.append(reader.timestampMs(), null, value.getBytes(UTF_8), List.of());
                }
                return builder.build();
            } finally {
                batch.release();
            }
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    @Test
    void shouldCloseOnceWhenTwoThreadsDo() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try (FakeCluster cluster = new FakeCluster(BROKERS)) {
            for (int i = 0; i < CLOSED_PRODUCERS; i++) {
                // given
                PlaceSealer sealer = new PlaceSealer();
                Producer producer = Producer.builder()
                        .bootstrapServers(cluster.bootstrapServers())
                        .seal(keys -> sealer)
                        .build();
                AtomicInteger ready = new AtomicInteger();
                // when
                Future<?> close = other.submit(() -> closeTogether(producer, ready));
                closeTogether(producer, ready);
                close.get();
                // then
                assertThat(sealer.closed).hasValue(1);
            }
        } finally {
            other.shutdown();
        }
    }

    private static void closeTogether(Producer producer, AtomicInteger ready) {
        ready.incrementAndGet();
        while (ready.get() < 2) {
            Thread.onSpinWait();
        }
        producer.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldKeepTheOrderOfPlacesWhenBrokersFail(long seed) throws Exception {
        // given
        PlaceSealer sealer = new PlaceSealer();
        try (FakeCluster cluster = new FakeCluster(BROKERS).topic("orders", PARTITIONS)) {
            Random random = new Random(seed);
            int[] left = {FAULTS};
            cluster.faults(key -> {
                if (left[0] == 0 || key != ApiKey.PRODUCE || random.nextInt(4) != 0) {
                    return Fault.NONE;
                }
                left[0]--;
                if (random.nextInt(8) == 0) {
                    cluster.moveLeader(
                            new TopicPartition("orders", random.nextInt(PARTITIONS)), random.nextInt(BROKERS));
                }
                return KINDS.get(random.nextInt(KINDS.size()));
            });

            // when
            try (Producer producer = Producer.builder()
                    .bootstrapServers(cluster.bootstrapServers())
                    .seal(keys -> sealer)
                    .compression(CompressionCodec.LZ4)
                    .batchSizeBytes(400)
                    .retryBackoff(Duration.ofMillis(1), Duration.ofMillis(20))
                    .reconnectBackoff(Duration.ofMillis(1), Duration.ofMillis(20))
                    .build()) {
                ProducerTest.run(THREADS, thread -> send(producer, thread));
            }

            // then
            assertThat(sealer.prepared).hasValue(THREADS * RECORDS);
            assertThat(sealer.repeated).hasValue(0);
            int total = 0;
            for (int partition = 0; partition < PARTITIONS; partition++) {
                List<String> log = cluster.values(new TopicPartition("orders", partition));
                total += log.size();
                assertThat(log.stream().map(value -> Long.parseLong(value.substring(0, value.indexOf('|')))))
                        .as("seed %d, partition %d", seed, partition)
                        .isSorted();
                assertThat(log).doesNotHaveDuplicates();
            }
            assertThat(total).as("seed %d", seed).isEqualTo(THREADS * RECORDS);
        }
    }

    @Test
    void shouldSendTheNextRecordItselfWhenOneCannotBeSealed() throws Exception {
        // given
        AtomicInteger sealed = new AtomicInteger();
        PlaceSealer sealer = new PlaceSealer();
        BatchSealer failsOnce = new BatchSealer() {
            @Override
            public void prepare(String topic) {
                sealer.prepare(topic);
            }

            @Override
            public Place place(TopicPartition partition) {
                Place place = sealer.place(partition);
                return batch -> {
                    if (sealed.getAndIncrement() == 1) {
                        batch.release();
                        throw new SealingException("no key", null);
                    }
                    return place.seal(batch);
                };
            }

            @Override
            public void close() {}
        };
        try (FakeCluster cluster = new FakeCluster(1).topic("orders", 1);
                Producer producer = Producer.builder()
                        .bootstrapServers(cluster.bootstrapServers())
                        .seal(keys -> failsOnce)
                        .build()) {
            ProducerRecord record = ProducerRecord.of("orders", new byte[10]);
            producer.send(record);

            // when
            assertThatThrownBy(() -> producer.send(record)).isInstanceOf(SealingException.class);

            // then
            assertThat(producer.metrics().bufferedBytes()).isZero();
            producer.send(record);
            assertThat(producer.metrics().directSends()).isPositive();
        }
    }

    /** A batch that cannot be sent once, as when the stack of the caller has no room left. */
    private static final class FragileBuf extends UnpooledHeapByteBuf {
        private final AtomicBoolean fails;

        FragileBuf(ByteBuf content, AtomicBoolean fails) {
            super(UnpooledByteBufAllocator.DEFAULT, content.readableBytes(), content.readableBytes());
            this.fails = fails;
            writeBytes(content);
        }

        @Override
        public ByteBuffer nioBuffer(int index, int length) {
            if (fails.getAndSet(false)) {
                throw new StackOverflowError("no room left");
            }
            return super.nioBuffer(index, length);
        }
    }

    @Test
    void shouldSendABatchAgainWhenTheCallerHasNoStackLeftWhileItSendsIt() throws Exception {
        PlaceSealer sealer = new PlaceSealer();
        AtomicBoolean fails = new AtomicBoolean();
        BatchSealer fragile = new BatchSealer() {
            @Override
            public void prepare(String topic) {
                sealer.prepare(topic);
            }

            @Override
            public Place place(TopicPartition partition) {
                Place place = sealer.place(partition);
                return batch -> {
                    ByteBuf sealed = place.seal(batch);
                    try {
                        return new FragileBuf(sealed, fails);
                    } finally {
                        sealed.release();
                    }
                };
            }

            @Override
            public void close() {}
        };
        try (FakeCluster cluster = new FakeCluster(1).topic("orders", 1);
                Producer producer = Producer.builder()
                        .bootstrapServers(cluster.bootstrapServers())
                        .seal(keys -> fragile)
                        .build()) {
            ProducerRecord record = ProducerRecord.of("orders", new byte[LARGE_BYTES]);
            producer.send(record);
            producer.send(record);
            assertThat(producer.metrics().directSends()).isPositive();

            // when
            fails.set(true);
            assertThat(producer.send(record).offset()).isEqualTo(2);

            // then
            assertThat(fails).isFalse();
            assertThat(producer.metrics().bufferedBytes()).isZero();
            assertThat(producer.send(record).offset()).isEqualTo(3);
        }
    }

    @Test
    void shouldKeepNeitherMemoryNorThePartitionWhenAPlaceCannotBeMade() throws Exception {
        PlaceSealer sealer = new PlaceSealer();
        AtomicBoolean fails = new AtomicBoolean();
        BatchSealer fragile = new BatchSealer() {
            @Override
            public void prepare(String topic) {
                sealer.prepare(topic);
            }

            @Override
            public Place place(TopicPartition partition) {
                if (fails.getAndSet(false)) {
                    throw new StackOverflowError("no room left");
                }
                return sealer.place(partition);
            }

            @Override
            public void close() {}
        };
        try (FakeCluster cluster = new FakeCluster(1).topic("orders", 1);
                Producer producer = Producer.builder()
                        .bootstrapServers(cluster.bootstrapServers())
                        .seal(keys -> fragile)
                        .build()) {
            ProducerRecord record = ProducerRecord.of("orders", new byte[10]);
            producer.send(record);
            producer.send(record);
            assertThat(producer.metrics().directSends()).isPositive();

            // when
            fails.set(true);
            assertThatThrownBy(() -> producer.send(record)).isInstanceOf(StackOverflowError.class);

            // then
            assertThat(producer.metrics().bufferedBytes()).isZero();
            assertThat(producer.send(record).offset()).isEqualTo(2);
        }
    }

    private static void send(Producer producer, int thread) {
        List<CompletableFuture<?>> results = new ArrayList<>();
        int partition = thread % PARTITIONS;
        for (int i = 0; i < RECORDS; i++) {
            ProducerRecord record = ProducerRecord.of("orders", partition, null, (thread + ":" + i).getBytes(UTF_8));
            switch (thread / 2) {
                case 0 -> producer.send(record);
                case 1 -> results.add(producer.sendAsync(record));
                default -> results.add(producer.sendBatch("orders", partition, List.of(record)));
            }
        }
        results.forEach(CompletableFuture::join);
    }
}
