package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.OffsetOutOfRangeException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.BatchOpener;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class ConsumerTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);
    private static final Duration LONG = Duration.ofSeconds(10);

    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(2).topic("orders", 4);
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void shouldNotSkipARecordThatIsAppendedWhileATimeIsLookedUp() {
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            long end = cluster.endOffset(FIRST);
            cluster.appendAfterLookup(FIRST);
            // when
            consumer.seekToTime(List.of(FIRST), 1_000);
            // then
            assertThat(consumer.position(FIRST)).isEqualTo(end);
        }
    }

    @Test
    void shouldReadWhatWasWrittenWithAllItsParts() {
        // given
        try (Producer producer = producer(CompressionCodec.LZ4)) {
            producer.send(ProducerRecord.builder("orders")
                    .partition(0)
                    .key("key".getBytes(UTF_8))
                    .value("value".getBytes(UTF_8))
                    .timestampMs(1234)
                    .header("trace", new byte[] {1, 2})
                    .header("empty", null)
                    .build());
            producer.send(ProducerRecord.of("orders", 0, null, null));
        }
        // when
        List<ConsumerRecord> records = new ArrayList<>();
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            while (records.size() < 2) {
                consumer.poll(LONG).forEach(records::add);
            }
            assertThat(consumer.position(FIRST)).isEqualTo(2);
        }
        // then the records outlive the consumer
        ConsumerRecord first = records.get(0);
        assertThat(first.key()).asString(UTF_8).isEqualTo("key");
        assertThat(first.value()).asString(UTF_8).isEqualTo("value");
        assertThat(first.timestampMs()).isEqualTo(1234);
        assertThat(first.headers()).containsExactly(new Header("trace", new byte[] {1, 2}), new Header("empty", null));
        assertThat(records.get(1).offset()).isEqualTo(1);
        assertThat(records.get(1).key()).isNull();
        assertThat(records.get(1).value()).isNull();
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldCutOutWhatWasAbortedWhenItReadsCommittedRecords(CompressionCodec codec) {
        cluster.transactionVersion(2);
        long producerId = 5000;
        try (Producer copier = Producer.builder()
                        .bootstrapServers(cluster.bootstrapServers())
                        .transactionalId("copier")
                        .compression(codec)
                        .build();
                Producer plain = producer(codec)) {
            // given: a committed transaction, an aborted one with other records in it, and a committed one
            long[] begins = new long[3];
            for (int i = 0; i < 3; i++) {
                String name = "transaction " + i;
                begins[i] = cluster.endOffset(FIRST);
                copier.inTransaction(transaction -> {
                    for (int part = 0; part < 2; part++) {
                        transaction
                                .sendBatch("orders", 0, List.of(valueOf(name), valueOf(name)))
                                .join();
                        plain.send(ProducerRecord.of("orders", 0, null, "plain".getBytes(UTF_8)));
                    }
                });
                cluster.endTransaction(FIRST, producerId, begins[i], i != 1);
            }
            plain.send(ProducerRecord.of("orders", 0, null, "last".getBytes(UTF_8)));
        }
        // when
        List<String> committed = readAll(Consumer.Isolation.READ_COMMITTED);
        // then
        assertThat(committed)
                .containsExactly(
                        "transaction 0",
                        "transaction 0",
                        "plain",
                        "transaction 0",
                        "transaction 0",
                        "plain",
                        "plain",
                        "plain",
                        "transaction 2",
                        "transaction 2",
                        "plain",
                        "transaction 2",
                        "transaction 2",
                        "plain",
                        "last");
        assertThat(readAll(Consumer.Isolation.READ_UNCOMMITTED)).hasSize(19);
    }

    private static ProducerRecord valueOf(String value) {
        return ProducerRecord.of("orders", value.getBytes(UTF_8));
    }

    /** By iteration; counts and visits must say the same. */
    private List<String> readAll(Consumer.Isolation isolation) {
        List<String> values = new ArrayList<>();
        try (Consumer consumer = consumer()
                .isolation(isolation)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(FIRST));
            while (consumer.position(FIRST) < cluster.endOffset(FIRST)) {
                ConsumerRecords records = consumer.poll(LONG);
                int before = values.size();
                records.forEach(record -> values.add(new String(record.value(), UTF_8)));
                int[] visited = {0};
                records.visit((topic, partition, record) -> visited[0]++);
                assertThat(values.size() - before).isEqualTo(records.count()).isEqualTo(visited[0]);
            }
        }
        return values;
    }

    @Test
    void shouldCountVisitAndIterateTheSameRecords() {
        fill(0, 0, 500);
        fill(1, 0, 300);
        try (Consumer consumer = consumer().partitionMaxBytes(2_000).build()) {
            consumer.assign(List.of(FIRST, SECOND));
            consumer.seekToBeginning(consumer.assignment());
            int counted = 0;
            int[] visited = {0};
            int iterated = 0;
            int perPartition = 0;
            while (counted < 800) {
                ConsumerRecords records = consumer.poll(LONG);
                assertThat(records.isEmpty()).isFalse();
                assertThat(records.sizeBytes()).isPositive();
                counted += records.count();
                records.visit((topic, partition, record) -> visited[0]++);
                for (ConsumerRecord record : records) {
                    assertThat(record.value()).asString(UTF_8).isEqualTo(record.partition() + ":" + record.offset());
                    iterated++;
                }
                for (TopicPartition partition : records.partitions()) {
                    for (ConsumerRecord record : records.records(partition)) {
                        assertThat(record.partition()).isEqualTo(partition.partition());
                        perPartition++;
                    }
                }
            }
            assertThat(counted).isEqualTo(800);
            assertThat(visited[0]).isEqualTo(800);
            assertThat(iterated).isEqualTo(800);
            assertThat(perPartition).isEqualTo(800);
            assertThat(consumer.metrics().records()).isEqualTo(800);
        }
    }

    @Test
    void shouldStartInTheMiddleOfABatch() {
        fill(0, 0, 100);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            for (long offset : new long[] {57, 3, 99}) {
                consumer.seek(FIRST, offset);
                ConsumerRecords records = consumer.poll(LONG);
                assertThat(records.iterator().next().offset()).isEqualTo(offset);
                List<Long> offsets = new ArrayList<>();
                records.forEach(record -> offsets.add(record.offset()));
                assertThat(records.count()).isEqualTo(offsets.size());
            }
        }
    }

    @Test
    void shouldReadOnlyWhatComesAfterSeekingToTheEnd() throws Exception {
        fill(0, 0, 10);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seekToEnd(Set.of(FIRST));
            assertThat(consumer.poll(Duration.ofMillis(50)).isEmpty()).isTrue();
            CompletableFuture<Void> later = CompletableFuture.runAsync(() -> fill(0, 10, 1));
            ConsumerRecords records = consumer.poll(LONG);
            assertThat(records.iterator().next().offset()).isEqualTo(10);
            later.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldReadOnlyWhatIsAssignedNow() {
        fill(0, 0, 10);
        fill(1, 0, 10);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).partitions()).containsExactly(FIRST);
            consumer.assign(List.of(SECOND));
            assertThat(consumer.assignment()).containsExactly(SECOND);
            assertThat(consumer.poll(LONG).partitions()).containsExactly(SECOND);
            fill(0, 10, 10);
            assertThat(consumer.poll(Duration.ofMillis(200)).isEmpty()).isTrue();
            assertThatThrownBy(() -> consumer.position(FIRST)).hasMessageContaining("assign");
        }
    }

    @Test
    void shouldEndRecordsWithTheNextPoll() {
        fill(0, 0, 10);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            ConsumerRecords records = consumer.poll(LONG);
            Iterator<ConsumerRecord> abandoned = records.iterator();
            ConsumerRecord kept = abandoned.next();
            consumer.poll(Duration.ZERO);
            assertThatThrownBy(records::iterator)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("next poll");
            assertThat(kept.value()).asString(UTF_8).isEqualTo("0:0");
        }
    }

    @Test
    void shouldGoWhereItIsToldWhenThePositionDoesNotExist() {
        fill(0, 0, 10);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 1_000);
            assertThat(consumer.poll(LONG).iterator().next().offset()).isZero();
        }
        try (Consumer consumer = consumer().startAt(Consumer.Start.NOWHERE).build()) {
            consumer.assign(List.of(FIRST));
            assertThatThrownBy(() -> consumer.poll(LONG))
                    .isInstanceOf(OffsetOutOfRangeException.class)
                    .hasMessageContaining("seek");
            consumer.seek(FIRST, 1_000);
            for (int poll = 0; poll < 3; poll++) {
                assertThatThrownBy(() -> consumer.poll(LONG))
                        .isInstanceOf(OffsetOutOfRangeException.class)
                        .hasMessageContaining("1000");
            }
            consumer.seek(FIRST, 5);
            assertThat(consumer.poll(LONG).iterator().next().offset()).isEqualTo(5);
        }
    }

    @Test
    void shouldRejectACorruptBatchAndContinueWhenItIsRepaired() {
        fill(0, 0, 10);
        fill(0, 10, 10);
        cluster.corrupt(FIRST, 1);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            // then what is sound comes
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            assertThatThrownBy(() -> consumer.poll(LONG))
                    .isInstanceOf(CorruptBatchException.class)
                    .hasMessageContaining("offset 10");
            // and the rest when it is repaired
            cluster.corrupt(FIRST, 1);
            assertThat(pollRepaired(consumer).iterator().next().offset()).isEqualTo(10);
        }
    }

    /** The consumer fetches again before a poll throws, so that it may have the damaged batch once more. */
    private static ConsumerRecords pollRepaired(Consumer consumer) {
        try {
            return consumer.poll(LONG);
        } catch (CorruptBatchException fetchedBefore) {
            return consumer.poll(LONG);
        }
    }

    /** The last record of the batch cannot be read, and its checksum does not tell. */
    @Test
    void shouldNameTheBatchWhenAVisitorReadsAFieldThatIsWrong() {
        try (Producer producer = Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .compression(CompressionCodec.NONE)
                .build()) {
            producer.sendBatch(
                            "orders", 0, List.of(ProducerRecord.of("orders", null), ProducerRecord.of("orders", null)))
                    .join();
        }
        cluster.corrupt(FIRST, 0);
        List<Long> visited = new ArrayList<>();
        try (Consumer consumer =
                consumer().startAt(Consumer.Start.BEGINNING).checkCrc(false).build()) {
            consumer.assign(List.of(FIRST));
            ConsumerRecords records = consumer.poll(LONG);
            // then
            assertThatThrownBy(() -> records.visit((topic, partition, record) -> {
                        record.headers();
                        visited.add(record.offset());
                    }))
                    .isInstanceOf(CorruptBatchException.class)
                    .hasMessageContaining("orders-0 at offset 0")
                    .hasMessageContaining("seek to 2");
        }
        assertThat(visited).containsExactly(0L);
    }

    /** Partitions 0 and 2 have the same leader, so that one response contains both. */
    @Test
    void shouldReadEveryRecordOfAPartitionWhenAnotherOneOfTheResponseFails() {
        TopicPartition third = new TopicPartition("orders", 2);
        fill(0, 0, 10);
        fill(2, 0, 10);
        cluster.corrupt(FIRST, 0);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST, third));
            assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(CorruptBatchException.class);
            consumer.pause(List.of(FIRST));
            fill(2, 10, 10);
            // then
            assertThat(consumer.poll(LONG).iterator().next().offset()).isZero();
        }
    }

    /** Memory runs out in one of two partitions that a response contains. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void shouldReadEveryRecordOnceWhenAPartitionOfTheResponseFailsWithAnError(int failing) {
        boolean[] failed = {false};
        NotingOpener opener = new NotingOpener() {
            @Override
            public void open(TopicPartition partition, ByteBuf batches, int index, ByteBuf out) {
                if (partition.partition() == failing && !failed[0]) {
                    failed[0] = true;
                    throw new OutOfMemoryError("no direct memory");
                }
                super.open(partition, batches, index, out);
            }
        };
        fill(0, 0, 10);
        fill(2, 0, 10);
        try (Consumer consumer = consumer()
                .open(keys -> opener)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(FIRST, new TopicPartition("orders", 2)));
            List<String> values = new ArrayList<>();
            int errors = 0;
            while (values.size() < 20) {
                try {
                    ConsumerRecords records = consumer.poll(Duration.ofSeconds(2));
                    assertThat(records.isEmpty())
                            .as("no records behind " + values)
                            .isFalse();
                    records.forEach(record -> values.add(new String(record.value(), UTF_8)));
                } catch (OutOfMemoryError e) {
                    errors++;
                }
            }
            assertThat(errors).isOne();
            assertThat(values).doesNotHaveDuplicates();
        }
    }

    /** A lookup of the first offset gets no response in time. */
    @Test
    void shouldLookAPositionUpAgainInALaterPollWhenThatFails() {
        fill(0, 0, 10);
        try (Consumer consumer = consumer()
                .startAt(Consumer.Start.BEGINNING)
                .callTimeout(Duration.ofMillis(300))
                .build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            cluster.faults(key -> key == ApiKey.LIST_OFFSETS ? Fault.DROP_BEFORE : Fault.NONE);
            consumer.seek(FIRST, 1_000);
            assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(JournalQException.class);
            cluster.faults(key -> Fault.NONE);
            // then
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
        }
    }

    @Test
    void shouldLookUpOffsets() {
        fill(0, 0, 7);
        try (Consumer consumer = consumer().build()) {
            assertThat(consumer.partitionsOf("orders")).hasSize(4);
            assertThat(consumer.beginningOffsets(List.of(FIRST, SECOND))).isEqualTo(Map.of(FIRST, 0L, SECOND, 0L));
            assertThat(consumer.endOffsets(List.of(FIRST, SECOND))).isEqualTo(Map.of(FIRST, 7L, SECOND, 0L));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, -2, -3, -5, Long.MIN_VALUE})
    void shouldRefuseANegativeTimeInsteadOfTakingItForASpecialOffset(long timestampMs) {
        fill(0, 0, 7);
        try (Consumer consumer = consumer().build()) {
            assertThatThrownBy(() -> consumer.offsetsForTimes(Map.of(FIRST, timestampMs)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the timestamp of orders-0 is " + timestampMs + " ms; use 0 or more");
        }
    }

    @Test
    void shouldReadFromABrokerThatHasTheAddressOfAnotherOneNow() {
        fill(0, 0, 10);
        try (Producer producer = producer(CompressionCodec.NONE);
                Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            producer.sendAsync(ProducerRecord.of("orders", 0, null, null)).join();
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 11);
            // when
            cluster.exchangeAddresses();
            producer.sendAsync(ProducerRecord.of("orders", 0, null, null))
                    .orTimeout(20, TimeUnit.SECONDS)
                    .join();
            // then
            assertThat(consumer.poll(LONG).count()).isOne();
        }
    }

    @Test
    void shouldLookUpOffsetsAtTheNewLeaderOfAPausedPartition() {
        fill(0, 0, 10);
        try (Consumer consumer = consumer()
                .startAt(Consumer.Start.BEGINNING)
                .callTimeout(Duration.ofSeconds(5))
                .build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            consumer.pause(List.of(FIRST));
            cluster.moveLeader(FIRST, 1 - cluster.leader(FIRST));
            assertThat(consumer.endOffsets(List.of(FIRST))).isEqualTo(Map.of(FIRST, 10L));
        }
    }

    @Test
    void shouldFindNewPartitionsOfATopicThatItHasReadBefore() {
        fill(0, 0, 10);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(consumer.partitionsOf("orders"));
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            consumer.assign(List.of());
            cluster.topic("orders", 6);
            assertThat(consumer.partitionsOf("orders")).hasSize(6);
        }
    }

    /** Responses arrive faster than their batches are opened. */
    @Test
    void shouldEndAPollWhenResponsesArriveWithoutAPause() {
        int batches = 50;
        try (Producer producer = producer(CompressionCodec.NONE)) {
            for (int i = 0; i < batches; i++) {
                producer.sendBatch("orders", 0, List.of(ProducerRecord.of("orders", 0, null, new byte[100])))
                        .join();
            }
        }
        BatchOpener slow = new NotingOpener() {
            @Override
            public void open(TopicPartition partition, ByteBuf batches, int index, ByteBuf out) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30));
                super.open(partition, batches, index, out);
            }
        };
        try (Consumer consumer = consumer()
                .open(keys -> slow)
                .partitionMaxBytes(1)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(FIRST));
            int largest = 0;
            for (int count = 0; count < batches; ) {
                int polled = consumer.poll(LONG).count();
                largest = Math.max(largest, polled);
                count += polled;
            }
            assertThat(largest).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void shouldEndAWaitWhenInterrupted() {
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(InterruptedWaitException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldReadWithoutSessionsFromABrokerThatKnowsNone() {
        cluster.limit(ApiKey.FETCH, 4);
        fill(0, 0, 10);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            fill(0, 10, 5);
            assertThat(consumer.poll(LONG).count()).isEqualTo(5);
        }
    }

    /** Reads records of the first partition, by their offsets in order. */
    private static void read(Consumer consumer, long from, long to) {
        long next = from;
        while (next < to) {
            for (ConsumerRecord record : consumer.poll(LONG)) {
                assertThat(record.offset()).isEqualTo(next++);
            }
        }
    }

    /** KIP-320: the offsets that were lost get other records in a newer epoch. */
    @Test
    void shouldReadTheRecordsThatHaveReplacedLostOnes() {
        fillTwoBatches();
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 10);
            // when
            consumer.pause(List.of(FIRST));
            loseTheLastOfTwoBatches();
            consumer.resume(List.of(FIRST));
            // then
            read(consumer, 5, 15);
        }
    }

    /** Opens batches that are not sealed, and notes the calls for the first partition. */
    private static class NotingOpener implements BatchOpener {
        private final List<String> calls = new ArrayList<>();

        @Override
        public void start(TopicPartition partition, long offset, String state) {
            calls.add("start " + offset + " " + state);
        }

        @Override
        public void truncate(TopicPartition partition, long offset) {
            calls.add("truncate " + offset);
        }

        @Override
        public void stop(TopicPartition partition) {}

        @Override
        public void open(TopicPartition partition, ByteBuf batches, int index, ByteBuf out) {
            calls.add("open " + RecordBatch.baseOffset(batches, index));
            out.writeBytes(batches, index, RecordBatch.sizeBytes(batches, index));
        }

        @Override
        public String state(TopicPartition partition) {
            return "state";
        }

        @Override
        public long missingBatches() {
            return 0;
        }

        @Override
        public void close() {}
    }

    @Test
    void shouldChangeNothingWhenOneOfThePartitionsIsNotAssigned() {
        try (Producer producer = producer(CompressionCodec.NONE);
                Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            producer.send(ProducerRecord.of("orders", 0, null, null));
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG)).hasSize(1);
            // when
            assertThatThrownBy(() -> consumer.pause(List.of(FIRST, SECOND))).isInstanceOf(IllegalStateException.class);
            // then
            assertThat(consumer.paused()).isEmpty();
            producer.send(ProducerRecord.of("orders", 0, null, null));
            assertThat(consumer.poll(LONG)).hasSize(1);
            // and when
            consumer.pause(List.of(FIRST));
            assertThatThrownBy(() -> consumer.resume(List.of(FIRST, SECOND))).isInstanceOf(IllegalStateException.class);
            // then
            assertThat(consumer.paused()).containsExactly(FIRST);
            producer.send(ProducerRecord.of("orders", 0, null, null));
            consumer.resume(List.of(FIRST));
            assertThat(consumer.poll(LONG)).hasSize(1);
        }
    }

    @Test
    void shouldTellTheOpenerThatRecordsWereLostBeforeItOpensOthersAtTheirOffsets() {
        NotingOpener opener = new NotingOpener();
        fillTwoBatches();
        try (Consumer consumer = consumer()
                .open(keys -> opener)
                .groupId("billing")
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 10);
            cluster.loseFrom(FIRST, 5);
            fill(0, 5, 5);
            read(consumer, 5, 10);
            assertThat(opener.calls).containsExactly("start 0 ", "open 0", "open 5", "truncate 5", "open 5");
            // and when the position does not exist
            consumer.seek(FIRST, 1_000);
            read(consumer, 0, 10);
            assertThat(opener.calls.subList(5, opener.calls.size()))
                    .containsExactly("start 1000 ", "truncate 0", "open 0", "open 5");
        }
        try (Consumer consumer =
                consumer().open(keys -> opener).groupId("billing").build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.position(FIRST)).isEqualTo(10);
            assertThat(opener.calls).endsWith("start 10 ");
        }
    }

    @Test
    void shouldNotOpenBatchesBeforeItsPosition() {
        NotingOpener opener = new NotingOpener();
        fillTwoBatches();
        cluster.serveAll(FIRST);
        try (Consumer consumer = consumer().open(keys -> opener).build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 7);
            read(consumer, 7, 10);
            assertThat(opener.calls).containsExactly("start 7 ", "open 5");
        }
    }

    private void fillTwoBatches() {
        fill(0, 0, 5);
        fill(0, 5, 5);
    }

    /** The first partition loses the offsets from 5 on. Others take their place, up to offset 15. */
    private void loseTheLastOfTwoBatches() {
        cluster.loseFrom(FIRST, 5);
        fill(0, 5, 5);
        fill(0, 10, 5);
    }

    @Test
    void shouldReadTheRecordsThatHaveReplacedLostOnesWhenItReadsWithoutAPause() throws Exception {
        fillTwoBatches();
        try (Consumer consumer = consumer().startAt(Consumer.Start.NOWHERE).build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            read(consumer, 0, 10);
            // when the end of the log is before the position
            cluster.loseFrom(FIRST, 5);
            assertThat(consumer.poll(Duration.ofMillis(300)).isEmpty()).isTrue();
            assertThat(consumer.position(FIRST)).isEqualTo(5);
            fill(0, 5, 7);
            // then
            read(consumer, 5, 12);
        }
    }

    @Test
    void shouldReadTheRecordsThatHaveReplacedLostOnesWhenItReadsFromAReplicaInItsRack() {
        fillTwoBatches();
        cluster.follower(FIRST, 1, "east", ErrorCode.NONE);
        try (Consumer consumer =
                consumer().rack("east").startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 10);
            assertThat(cluster.readFromFollower(FIRST)).isPositive();
            // when
            consumer.pause(List.of(FIRST));
            loseTheLastOfTwoBatches();
            consumer.resume(List.of(FIRST));
            // then
            read(consumer, 5, 15);
        }
    }

    @Test
    void shouldReadTheRecordsThatHaveReplacedLostOnesWhenItStartsAtACommittedOffset() {
        fillTwoBatches();
        try (Consumer consumer = groupConsumer()) {
            read(consumer, 0, 10);
            consumer.commit();
        }
        // when another one starts there and commits before it has read anything
        try (Consumer consumer = groupConsumer()) {
            assertThat(consumer.poll(Duration.ofMillis(50)).isEmpty()).isTrue();
            consumer.commit();
            assertThat(cluster.coordinator().committedEpoch(FIRST)).isZero();
        }
        loseTheLastOfTwoBatches();
        // then
        try (Consumer consumer = groupConsumer()) {
            read(consumer, 5, 15);
        }
        assertThat(cluster.coordinator().committed(FIRST)).isEqualTo(15);
        assertThat(cluster.coordinator().committedEpoch(FIRST)).isOne();
    }

    @Test
    void shouldReadNoRecordTwiceWhenABatchOfAnEarlierEpochComesAgain() {
        fill(0, 0, 5);
        cluster.moveLeader(FIRST, cluster.leader(FIRST));
        fill(0, 5, 5);
        try (Consumer consumer = groupConsumer()) {
            read(consumer, 0, 10);
            // when
            cluster.repeatFirst(FIRST, 5);
            fill(0, 10, 5);
            // then
            read(consumer, 10, 15);
            consumer.commit();
            assertThat(cluster.coordinator().committedEpoch(FIRST)).isOne();
            fill(0, 15, 5);
            read(consumer, 15, 20);
        }
    }

    private Consumer groupConsumer() {
        Consumer consumer =
                consumer().groupId("billing").startAt(Consumer.Start.BEGINNING).build();
        consumer.assign(List.of(FIRST));
        return consumer;
    }

    @Test
    void shouldCommitTheSameOffsetAgainWhenItFollowsARecordThatHasReplacedALostOne() {
        fillTwoBatches();
        try (Consumer consumer = consumer()
                .groupId("billing")
                .startAt(Consumer.Start.BEGINNING)
                .autoCommitInterval(Duration.ofHours(1))
                .build()) {
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 10);
            consumer.commit();
            cluster.loseFrom(FIRST, 5);
            fill(0, 5, 5);
            read(consumer, 5, 10);
        }
        assertThat(cluster.coordinator().committed(FIRST)).isEqualTo(10);
        assertThat(cluster.coordinator().committedEpoch(FIRST)).isOne();
    }

    @Test
    void shouldReadWhereTheApplicationSeeksAlthoughRecordsBeforeWereLost() {
        fillTwoBatches();
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 10);
            // when
            consumer.pause(List.of(FIRST));
            loseTheLastOfTwoBatches();
            consumer.seek(FIRST, 10);
            consumer.resume(List.of(FIRST));
            // then
            read(consumer, 10, 15);
        }
    }

    @Test
    void shouldReadFromABrokerThatDoesNotCompareLeaderEpochs() {
        cluster.limit(ApiKey.FETCH, 11);
        fillTwoBatches();
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));
            read(consumer, 0, 10);
            fill(0, 10, 5);
            read(consumer, 10, 15);
        }
    }

    @Test
    void shouldReadFromTheReplicaInItsRackAndFromTheLeaderWhenThatIsGone() {
        fill(0, 0, 10);
        cluster.follower(FIRST, 1, "east", ErrorCode.NONE);
        try (Consumer consumer =
                consumer().rack("east").startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));

            read(consumer, 0, 10);
            assertThat(cluster.readFromFollower(FIRST)).isPositive();

            // and when it is gone, although the leader still prefers it
            cluster.kill(1);
            fill(0, 10, 5);
            read(consumer, 10, 15);
        }
    }

    @Test
    void shouldReadFromTheLeaderWithoutARack() {
        fill(0, 0, 10);
        cluster.follower(FIRST, 1, "east", ErrorCode.NONE);
        try (Consumer consumer = consumer().startAt(Consumer.Start.BEGINNING).build()) {
            consumer.assign(List.of(FIRST));

            read(consumer, 0, 10);
        }
        assertThat(cluster.readFromFollower(FIRST)).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "NOT_LEADER_OR_FOLLOWER",
                "OFFSET_NOT_AVAILABLE",
                "OFFSET_OUT_OF_RANGE",
                "FENCED_LEADER_EPOCH",
                "KAFKA_STORAGE_ERROR"
            })
    void shouldReadFromTheLeaderWhenThePreferredReplicaRefuses(ErrorCode refusal) {
        fill(0, 0, 10);
        cluster.follower(FIRST, 1, "east", refusal);
        try (Consumer consumer =
                consumer().rack("east").startAt(Consumer.Start.NOWHERE).build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 3);

            // then it goes on where it was, although the leader still prefers that replica
            long[] next = {3};
            while (next[0] < 10) {
                consumer.poll(LONG)
                        .forEach(record -> assertThat(record.offset()).isEqualTo(next[0]++));
            }
        }
        assertThat(cluster.readFromFollower(FIRST)).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadEveryRecordOnceAndInOrderWhateverFails(long seed) {
        for (int partition = 0; partition < 4; partition++) {
            for (int batch = 0; batch < 40; batch++) {
                fill(partition, batch * 10, 10);
            }
        }
        Random random = new Random(seed);
        int[] left = {60};
        cluster.faults(key -> {
            if (left[0] == 0 || random.nextInt(3) != 0) {
                return Fault.NONE;
            }
            left[0]--;
            if (random.nextInt(5) == 0) {
                cluster.moveLeader(new TopicPartition("orders", random.nextInt(4)), random.nextInt(2));
            }
            return FETCH_FAULTS.get(random.nextInt(FETCH_FAULTS.size()));
        });
        long[] next = new long[4];
        int total = 0;
        try (Consumer consumer = consumer()
                .partitionMaxBytes(300)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(consumer.partitionsOf("orders"));
            while (total < 1_600) {
                for (ConsumerRecord record : consumer.poll(LONG)) {
                    assertThat(record.offset()).as("seed " + seed).isEqualTo(next[record.partition()]++);
                    total++;
                }
            }
        }
        assertThat(next).containsOnly(400);
    }

    @Test
    void shouldReadFromANewLeaderBeforeThePauseAfterAnErrorEnds() throws Exception {
        fill(0, 0, 10);
        Duration pause = Duration.ofSeconds(2);
        try (Consumer consumer = consumer()
                .retryBackoff(pause, pause)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            Thread.sleep(2 * pause.toMillis()); // metadata are not requested more often than each pause
            long startNanos = System.nanoTime();
            cluster.moveLeader(FIRST, 1 - cluster.leader(FIRST));
            fill(0, 10, 1);
            assertThat(consumer.poll(LONG).count()).isOne();
            assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(pause.dividedBy(2));
        }
    }

    @Test
    void shouldReadFromTheLeaderThatARefusalNames() throws Exception {
        cluster.nameLeaders();
        fill(0, 0, 10);
        Duration pause = Duration.ofSeconds(5); // until metadata are requested again, and until a fetch is
        try (Consumer consumer = consumer()
                .retryBackoff(pause, pause)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(FIRST));
            assertThat(consumer.poll(LONG).count()).isEqualTo(10);
            for (int move = 0; move < 2; move++) {
                long startNanos = System.nanoTime();
                cluster.moveLeader(FIRST, 1 - cluster.leader(FIRST));
                fill(0, 10 + move, 1);
                assertThat(consumer.poll(LONG).count()).isOne();
                assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(pause.dividedBy(2));
            }
        }
    }

    private static final List<Fault> FETCH_FAULTS =
            List.of(Fault.DROP_BEFORE, Fault.DROP_AFTER, Fault.DROP_IN_RESPONSE, Fault.NOT_LEADER, Fault.DELAY);

    /** Appends one batch of records whose values name their partition and offset. */
    private void fill(int partition, int firstOffset, int count) {
        try (Producer producer = producer(CompressionCodec.LZ4)) {
            List<ProducerRecord> records = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                String value = partition + ":" + (firstOffset + i);
                records.add(ProducerRecord.of("orders", partition, null, value.getBytes(UTF_8)));
            }
            producer.sendBatch("orders", partition, records).join();
        }
    }

    private Producer producer(CompressionCodec codec) {
        return Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .compression(codec)
                .build();
    }

    private Consumer.Builder consumer() {
        return Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .fetchMaxWait(Duration.ofMillis(200))
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(50))
                .reconnectBackoff(Duration.ofMillis(5), Duration.ofMillis(50));
    }
}
