package io.journalq.server.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Acks;
import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.MembershipLostException;
import io.journalq.client.error.ProducerReplacedException;
import io.journalq.client.error.TransactionAbortedException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.transaction.Transaction;
import io.journalq.client.transaction.TransactionBody;
import io.journalq.common.id.TopicPartition;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.TransactionState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Transactions of the client's producer against the real broker. */
@Timeout(180)
final class TransactionalProducerTest {
    private static final TopicPartition SOURCE = new TopicPartition("source", 0);
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    @TempDir
    Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        int port = LoopbackPorts.next();
        broker = new TestBroker(directory)
                .with("listeners", "PLAINTEXT://127.0.0.1:" + port)
                .start();
        try (Admin admin = Admin.builder().bootstrapServers(broker.bootstrap()).build()) {
            admin.createTopics(List.of(NewTopic.of("source", 1), NewTopic.of("orders", 3)));
        }
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldCommitRecordsAndOffsetsTogether() {
        try (Producer producer = producer("copier").build()) {
            // when
            producer.inTransaction(transaction -> {
                for (int i = 0; i < 100; i++) {
                    var unused = transaction.sendAsync(record("one-" + i));
                }
                assertThat(transaction.send(record("the last")).offset()).isNotNegative();
                transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(7, "seven")));
                assertThat(transaction
                                .sendBatch("orders", 1, List.of(record("a"), record("b")))
                                .join()
                                .recordCount())
                        .isEqualTo(2);
            });
            producer.inTransaction(transaction -> transaction.commitOffsets("billing", Map.of()));
        }
        // then
        assertThat(committed("billing")).isEqualTo(CommittedOffset.of(7, "seven"));
        assertThat(readAll(103))
                .contains("one-0", "one-99", "the last", "a", "b")
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldAbortWhenTheBodyThrows() throws Exception {
        try (Producer producer = producer("copier").build()) {
            producer.inTransaction(
                    transaction -> transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(1))));
            AtomicReference<Transaction> kept = new AtomicReference<>();
            // when
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        kept.set(transaction);
                        var unused = transaction.send(record("never"));
                        transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(2)));
                        throw new IOException("the disk is full");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasNoSuppressedExceptions();
            // then
            assertThat(committed("billing")).isEqualTo(CommittedOffset.of(1));
            assertThatThrownBy(() -> kept.get().send(record("too late"))).isInstanceOf(IllegalStateException.class);
            // and the next one is not concerned
            producer.inTransaction(transaction -> {
                var unused = transaction.send(record("after"));
                transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(3)));
            });
            assertThat(committed("billing")).isEqualTo(CommittedOffset.of(3));
        }
    }

    @Test
    void shouldShowReadersOfCommittedRecordsTheCommittedOnly() {
        List<String> expected = new ArrayList<>();
        try (Producer producer = producer("copier").build();
                Producer plain =
                        Producer.builder().bootstrapServers(broker.bootstrap()).build();
                Consumer committed = reader(Consumer.Isolation.READ_COMMITTED);
                Consumer all = reader(Consumer.Isolation.READ_UNCOMMITTED)) {
            // given committed and aborted transactions in turn, and records without one in between
            for (int i = 0; i < 20; i++) {
                String value = "transaction " + i;
                if (i % 3 == 1) {
                    assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                                transaction
                                        .sendBatch("orders", 0, List.of(record(value), record(value)))
                                        .join();
                                throw new IllegalArgumentException("no");
                            }))
                            .isInstanceOf(IllegalArgumentException.class);
                } else {
                    producer.inTransaction(transaction -> transaction
                            .sendBatch("orders", 0, List.of(record(value), record(value)))
                            .join());
                    expected.addAll(List.of(value, value));
                }
                plain.send(ProducerRecord.of("orders", 0, null, ("plain " + i).getBytes(UTF_8)));
                expected.add("plain " + i);
            }
            // when
            producer.inTransaction(transaction -> {
                transaction
                        .sendBatch("orders", 0, List.of(record("of the open one")))
                        .join();
                plain.send(ProducerRecord.of("orders", 0, null, "behind it".getBytes(UTF_8)));
                // then
                assertThat(read(committed, expected.size())).isEqualTo(expected);
                assertThat(read(all, 62)).endsWith("of the open one", "behind it");
                assertThat(committed.endOffsets(List.of(ORDERS)).get(ORDERS))
                        .isEqualTo(all.endOffsets(List.of(ORDERS)).get(ORDERS) - 2);
            });
            assertThat(read(committed, 2)).containsExactly("of the open one", "behind it");
        }
    }

    @Test
    void shouldSayThatItIsReplacedWhenAnotherTakesItsName() {
        try (Producer first = producer("copier").build();
                Producer second = producer("copier").build()) {
            assertThatThrownBy(() -> first.inTransaction(transaction -> {
                        var unused = transaction.send(record("of the first"));
                        transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(1)));
                        // when
                        second.inTransaction(other -> {
                            var ignored = other.send(record("of the second"));
                        });
                    }))
                    // then
                    .isInstanceOf(ProducerReplacedException.class)
                    .hasMessageContaining("transactionalId");
            assertThatThrownBy(() -> first.inTransaction(transaction -> {}))
                    .isInstanceOf(ProducerReplacedException.class);
            second.inTransaction(
                    transaction -> transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(2))));
            assertThat(committed("billing")).isEqualTo(CommittedOffset.of(2));
        }
    }

    @Test
    void shouldGoOnWhenTheBrokerRestarts() throws Exception {
        try (Producer producer = producer("copier")
                .reconnectBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .build()) {
            for (int i = 0; i < 30; i++) {
                int round = i;
                if (round % 10 == 5) {
                    broker.stop();
                    broker.start();
                }
                producer.inTransaction(transaction -> {
                    var unused = transaction.send(record("in " + round));
                    if (round % 10 == 7) {
                        broker.stop();
                        broker.start();
                    }
                    var ignored = transaction.sendAsync(record("again in " + round));
                    transaction.commitOffsets("billing", Map.of(SOURCE, CommittedOffset.of(round)));
                });
                assertThat(committed("billing")).isEqualTo(CommittedOffset.of(round));
            }
        }
        assertThat(readAll(60)).doesNotHaveDuplicates();
    }

    @Test
    void shouldRefuseOffsetsOfWhoIsNoMember() {
        try (Producer producer = producer("copier").build();
                Consumer consumer = consumer("billing").autoCommit(false).build()) {
            consumer.subscribe(List.of("source"));
            while (consumer.assignment().isEmpty()) {
                consumer.poll(Duration.ofMillis(20));
            }
            GroupMember member = consumer.groupMember();
            producer.inTransaction(
                    transaction -> transaction.commitOffsets(member, Map.of(SOURCE, CommittedOffset.of(1))));
            assertThat(committed("billing")).isEqualTo(CommittedOffset.of(1));
            // when
            consumer.unsubscribe();
            // then
            assertThatThrownBy(() -> producer.inTransaction(
                            transaction -> transaction.commitOffsets(member, Map.of(SOURCE, CommittedOffset.of(2)))))
                    .isInstanceOf(MembershipLostException.class);
            assertThat(committed("billing")).isEqualTo(CommittedOffset.of(1));
            assertThat(consumer.groupMember()).isEqualTo(GroupMember.outsider("billing"));
        }
    }

    @Test
    void shouldAbortAndGoOnWhenATransactionTakesTooLong() throws Exception {
        try (Producer slow = producer("slow")
                        .transactionTimeout(Duration.ofSeconds(1))
                        .build();
                var admin = broker.admin()) {
            assertThatThrownBy(() -> slow.inTransaction(transaction -> {
                        var unused = transaction.send(record("slow"));
                        // when
                        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
                        while (admin.describeTransactions(List.of("slow"))
                                        .description("slow")
                                        .get(30, TimeUnit.SECONDS)
                                        .state()
                                != TransactionState.COMPLETE_ABORT) {
                            assertThat(System.nanoTime()).isLessThan(endNanos);
                            Thread.sleep(20);
                        }
                    }))
                    // then
                    .isInstanceOf(TransactionAbortedException.class)
                    .hasMessageContaining("run it again");
            runAgainAndAgain(
                    slow, transaction -> transaction.commitOffsets("g", Map.of(SOURCE, CommittedOffset.of(1))));
            assertThat(committed("g")).isEqualTo(CommittedOffset.of(1));
        }
    }

    @Test
    void shouldRefuseWhatDoesNotFitTransactions() {
        try (Producer producer = producer("copier").build();
                Producer plain =
                        Producer.builder().bootstrapServers(broker.bootstrap()).build()) {
            assertThatThrownBy(() -> producer.send(record("outside"))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> plain.inTransaction(transaction -> {})).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> producer.inTransaction(outer -> producer.inTransaction(inner -> {})))
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> producer("copier").acks(Acks.LEADER).build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** The time-out is short, and the machine may be slow. */
    private static void runAgainAndAgain(Producer producer, TransactionBody<RuntimeException> body) {
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            try {
                producer.inTransaction(body);
                return;
            } catch (TransactionAbortedException e) {
                assertThat(System.nanoTime()).isLessThan(endNanos);
            }
        }
    }

    private Producer.Builder producer(String transactionalId) {
        return Producer.builder().bootstrapServers(broker.bootstrap()).transactionalId(transactionalId);
    }

    private Consumer.Builder consumer(String group) {
        return Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .groupId(group)
                .startAt(Consumer.Start.BEGINNING);
    }

    private static ProducerRecord record(String value) {
        return ProducerRecord.of("orders", value.getBytes(UTF_8));
    }

    private CommittedOffset committed(String group) {
        try (Consumer consumer = consumer(group).build()) {
            return consumer.committed(List.of(SOURCE)).get(SOURCE);
        }
    }

    private Consumer reader(Consumer.Isolation isolation) {
        Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .isolation(isolation)
                .startAt(Consumer.Start.BEGINNING)
                .build();
        consumer.assign(List.of(ORDERS));
        return consumer;
    }

    /** As many values as there are to be, and nothing behind them that is there already. */
    private static List<String> read(Consumer consumer, int count) {
        List<String> values = new ArrayList<>();
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (values.size() < count) {
            assertThat(System.nanoTime()).as("%s", values).isLessThan(endNanos);
            for (ConsumerRecord record : consumer.poll(Duration.ofMillis(100))) {
                values.add(new String(record.value(), UTF_8));
            }
        }
        assertThat(consumer.poll(Duration.ofMillis(50)).isEmpty()).isTrue();
        return values;
    }

    private List<String> readAll(int count) {
        List<String> values = new ArrayList<>();
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(consumer.partitionsOf("orders"));
            long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (values.size() < count) {
                assertThat(System.nanoTime())
                        .as("%s of %s", values.size(), count)
                        .isLessThan(endNanos);
                for (ConsumerRecord record : consumer.poll(Duration.ofMillis(100))) {
                    values.add(new String(record.value(), UTF_8));
                }
            }
        }
        return values;
    }
}
