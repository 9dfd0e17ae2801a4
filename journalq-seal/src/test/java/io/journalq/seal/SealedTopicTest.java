package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecords;
import io.journalq.client.KeyTopics;
import io.journalq.client.Producer;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Producers and consumers with a policy, with a broker. Each test uses a topic of its own. */
class SealedTopicTest {
    private static final int ALONE = 20;
    private static final AtomicInteger TOPICS = new AtomicInteger();
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String REALM = "tests";

    @TempDir
    private static Path temporary;

    private static EmbeddedBroker broker;
    private static KeyVault vault;
    private static SealAdmin registry;
    private static SealPolicy policy;

    @BeforeAll
    static void start() throws IOException {
        broker = JournalQ.embedded()
                .set("log.cleaner.backoff.ms", "20")
                .set("log.retention.check.interval.ms", "50")
                .set("flush.interval.ms", "20")
                .start();
        try (Admin admin =
                Admin.builder().bootstrapServers(broker.bootstrapServers()).build()) {
            SealAdmin.createTopics(admin, NewTopic.BROKER_DEFAULT);
        }
        vault = KeyVault.inMemory();
        KeyLog keys = KeyTopics.of(Admin.builder().bootstrapServers(broker.bootstrapServers()));
        registry = SealAdmin.found(REALM, vault, keys, TrustPolicy.onFirstUse(null));
        byte[] sender = vault.makeSender("billing").publicKey();
        byte[] role = vault.makeRole("readers", 1).publicKey();
        registry.change(next -> next.withSender("billing", sender, List.of("*")).withRole("readers", 1, role));
        policy = SealPolicy.builder()
                .realm(REALM)
                .trust(TrustPolicy.pinned(Registry.fingerprint(vault.root().publicKey()), null))
                .vault(vault)
                .subjects(
                        SubjectKeys.create(temporary.resolve("subjects"), "secret".toCharArray(), 1, System::nanoTime))
                .sender("billing")
                .build();
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic(SealMode mode, int partitions, Map<String, String> settings) {
        String topic = "topic-" + TOPICS.incrementAndGet();
        NewTopic created = NewTopic.of(topic, partitions);
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            created = created.withConfig(setting.getKey(), setting.getValue());
        }
        try (Admin admin =
                Admin.builder().bootstrapServers(broker.bootstrapServers()).build()) {
            admin.createTopic(created);
        }
        if (mode == SealMode.TOKEN) {
            TokenKey tokens = TokenKey.random();
            try {
                vault.addTokenKey(topic, tokens);
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
            registry.change(next -> next.withTokenTopic(topic, List.of("readers"), tokens.commitment(topic)));
        } else {
            registry.change(next -> next.withTopic(topic, mode, List.of("readers")));
        }
        return topic;
    }

    private static Producer.Builder producer() {
        return Producer.builder().bootstrapServers(broker.bootstrapServers());
    }

    private static Consumer consumer(String topic) {
        Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .open(policy)
                .startAt(Consumer.Start.BEGINNING)
                .isolation(Consumer.Isolation.READ_COMMITTED)
                .build();
        consumer.assign(consumer.partitionsOf(topic));
        return consumer;
    }

    private static ProducerRecord record(String topic, int partition, String value) {
        return ProducerRecord.builder(topic)
                .partition(partition)
                .key(("key of " + value).getBytes(UTF_8))
                .value(value.getBytes(UTF_8))
                .header("h", value.getBytes(UTF_8))
                .build();
    }

    /** Reads this number of values, by partition. */
    private static Map<Integer, List<String>> read(Consumer consumer, int count) {
        Map<Integer, List<String>> values = new TreeMap<>();
        long deadline = System.nanoTime() + LONG.toNanos();
        int left = count;
        while (left > 0 && System.nanoTime() < deadline) {
            for (io.journalq.client.ConsumerRecord record : consumer.poll(POLL)) {
                values.computeIfAbsent(record.partition(), key -> new ArrayList<>())
                        .add(new String(record.value(), UTF_8));
                assertThat(record.headers()).containsExactly(new Header("h", record.value()));
                left--;
            }
        }
        return values;
    }

    @Test
    void shouldReturnAllRecordsInOrderWhenThreadsSendInAllWays() {
        for (SealMode mode : SealMode.values()) {
            String topic = topic(mode, 2, Map.of());
            Map<Integer, List<String>> sent = new HashMap<>();
            try (Producer producer = producer()
                    .seal(policy)
                    .compression(CompressionCodec.LZ4)
                    .batchSizeBytes(2_000)
                    .build()) {
                // A lone sender writes to the socket itself. Whether one among others does depends on their timing.
                for (int i = 0; i < ALONE; i++) {
                    producer.send(record(topic, 0, "alone:" + i));
                }
                assertThat(producer.metrics().directSends()).as("%s", mode).isPositive();
                IntStream.range(0, 6).parallel().forEach(thread -> {
                    List<String> values = new ArrayList<>();
                    List<CompletableFuture<?>> results = new ArrayList<>();
                    for (int i = 0; i < 200; i++) {
                        String value = thread + ":" + i;
                        values.add(value);
                        ProducerRecord record = record(topic, thread % 2, value);
                        if (thread < 2) {
                            producer.send(record);
                        } else if (thread < 4) {
                            results.add(producer.sendAsync(record));
                        } else {
                            results.add(producer.sendBatch(topic, thread % 2, List.of(record)));
                        }
                    }
                    results.forEach(CompletableFuture::join);
                    synchronized (sent) {
                        sent.put(thread, values);
                    }
                });
            }

            Map<Integer, List<String>> values;
            try (Consumer consumer = consumer(topic)) {
                values = read(consumer, ALONE + 1_200);
            }

            for (int thread = 0; thread < 6; thread++) {
                String prefix = thread + ":";
                assertThat(values.get(thread % 2).stream().filter(value -> value.startsWith(prefix)))
                        .as("%s, thread %d", mode, thread)
                        .containsExactlyElementsOf(sent.get(thread));
            }
        }
    }

    @Test
    void shouldShowOtherClientsOnlyOpaqueRecordsWhenATopicIsSealed() {
        String topic = topic(SealMode.BATCH, 1, Map.of());
        try (Producer producer = producer().seal(policy).build()) {
            producer.sendBatch(topic, 0, List.of(record(topic, 0, "one"), record(topic, 0, "two")))
                    .join();
        }

        List<ConsumerRecord<byte[], byte[]>> records = readRaw(topic, 2);

        assertThat(records).extracting(ConsumerRecord::offset).containsExactly(0L, 1L);
        assertThat(records).allSatisfy(record -> {
            assertThat(record.key()).isNull();
            assertThat(record.value()).isEmpty();
        });
        byte[] envelope = records.get(0).headers().lastHeader("jqe1").value();
        assertThat(new String(envelope, UTF_8)).startsWith("JQE1").doesNotContain("one");
    }

    private static List<ConsumerRecord<byte[], byte[]>> readRaw(String topic, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            var partition = new org.apache.kafka.common.TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long deadline = System.nanoTime() + LONG.toNanos();
            while (records.size() < count && System.nanoTime() < deadline) {
                consumer.poll(POLL).forEach(records::add);
            }
        }
        return records;
    }

    @Test
    void shouldThrowWithTheOffsetAndStayThereWhenABatchIsNotSealed() {
        // given a plain batch between sealed ones
        String topic = topic(SealMode.BATCH, 1, Map.of());
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Producer sealed = producer().seal(policy).build();
                Producer plain = producer().build()) {
            sealed.send(record(topic, 0, "before"));
            plain.send(record(topic, 0, "forged"));
            sealed.send(record(topic, 0, "after"));
        }

        try (Consumer consumer = consumer(topic)) {
            // when / then
            assertThat(read(consumer, 1).get(0)).containsExactly("before");
            for (int i = 0; i < 2; i++) {
                SealViolationException thrown =
                        catchThrowableOfType(SealViolationException.class, () -> consumer.poll(LONG));
                assertThat(thrown.reason()).isEqualTo(Reason.PLAIN_BATCH);
                assertThat(thrown.partition()).isEqualTo(partition);
                assertThat(thrown.offset()).isEqualTo(1);
                assertThat(consumer.position(partition)).isEqualTo(1);
            }
            consumer.seek(partition, 2);
            assertThat(read(consumer, 1).get(0)).containsExactly("after");
        }
    }

    @Test
    void shouldRefuseABatchWhenItIsAppendedAgain() {
        // given a batch of one record, which somebody with the right to write appends again
        String topic = topic(SealMode.BATCH, 1, Map.of());
        try (Producer producer = producer().seal(policy).build()) {
            producer.send(record(topic, 0, "pay 100"));
        }
        ConsumerRecord<byte[], byte[]> raw = readRaw(topic, 1).get(0);
        try (KafkaProducer<byte[], byte[]> replay = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            var unused = replay.send(new org.apache.kafka.clients.producer.ProducerRecord<>(
                    topic, 0, raw.timestamp(), raw.key(), raw.value(), raw.headers()));
            replay.flush();
        }

        // when / then
        try (Consumer consumer = consumer(topic)) {
            assertThat(read(consumer, 1).get(0)).containsExactly("pay 100");
            SealViolationException thrown =
                    catchThrowableOfType(SealViolationException.class, () -> consumer.poll(LONG));
            assertThat(thrown.reason()).isEqualTo(Reason.WRONG_ORDER);
            assertThat(thrown.offset()).isEqualTo(1);
        }
    }

    @Test
    void shouldRememberWhatItHasReadWhenAGroupCommits() {
        String topic = topic(SealMode.BATCH, 1, Map.of());
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Producer producer = producer().seal(policy).build()) {
            producer.send(record(topic, 0, "one"));
            try (Consumer member = member(topic)) {
                assertThat(read(member, 1).get(0)).containsExactly("one");
                member.commit();
                assertThat(member.committed(List.of(partition)).get(partition).metadata())
                        .startsWith("jqe1:");
            }
            producer.send(record(topic, 0, "two"));
        }
        try (Consumer member = member(topic)) {
            assertThat(read(member, 1).get(0)).containsExactly("two");
        }
    }

    private static Consumer member(String topic) {
        Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .open(policy)
                .groupId("group-of-" + topic)
                .startAt(Consumer.Start.BEGINNING)
                .build();
        consumer.subscribe(List.of(topic));
        return consumer;
    }

    @Test
    void shouldReadOnlyCommittedRecordsWhenTransactionsAreSealed() {
        String topic = topic(SealMode.BATCH, 1, Map.of());
        try (Producer producer =
                producer().seal(policy).transactionalId("tx-" + topic).build()) {
            producer.inTransaction(transaction -> transaction.send(record(topic, 0, "committed")));
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        transaction.send(record(topic, 0, "aborted"));
                        throw new IllegalStateException("changed my mind");
                    }))
                    .isInstanceOf(IllegalStateException.class);
            producer.inTransaction(transaction -> transaction.send(record(topic, 0, "later")));
        }

        try (Consumer consumer = consumer(topic)) {
            assertThat(read(consumer, 2).get(0)).containsExactly("committed", "later");
        }
    }

    @Test
    void shouldSendNothingWhenATopicHasNoReaders() {
        String topic = topic(SealMode.BATCH, 1, Map.of());
        registry.change(next -> next.withTopic(topic, SealMode.BATCH, List.of()));
        try (Producer producer = producer().seal(policy).build()) {
            assertThatThrownBy(() -> producer.send(record(topic, 0, "secret"))).isInstanceOf(SealingException.class);
            assertThatThrownBy(() -> producer.sendAsync(record(topic, 0, "secret")))
                    .isInstanceOf(SealingException.class);
            assertThatThrownBy(() -> producer.sendBatch(topic, 0, List.of(record(topic, 0, "secret"))))
                    .isInstanceOf(SealingException.class);
        }
        try (Consumer consumer =
                Consumer.builder().bootstrapServers(broker.bootstrapServers()).build()) {
            TopicPartition partition = new TopicPartition(topic, 0);
            assertThat(consumer.endOffsets(List.of(partition))).containsEntry(partition, 0L);
        }
    }

    @Test
    void shouldNotCreateTheTopicsOfKeysWhenTheyAreMissing() {
        try (EmbeddedBroker other = JournalQ.embedded().inMemory().start()) {
            KeyTopics keys = KeyTopics.of(
                    Admin.builder().bootstrapServers(other.bootstrapServers()).callTimeout(Duration.ofSeconds(2)));

            assertThatThrownBy(() -> keys.append("jqe1.keys", new byte[] {1}, new byte[] {2}))
                    .isInstanceOf(UnknownTopicException.class);
            try (Admin admin =
                    Admin.builder().bootstrapServers(other.bootstrapServers()).build()) {
                assertThat(admin.listTopics()).isEmpty();
            }
        }
    }

    @Test
    void shouldReportShreddedRecordsByOffsetAndReturnTheOthers() throws Exception {
        // given two batches, the second one only of a subject that is shredded
        String topic = topic(SealMode.SUBJECT, 1, Map.of("cleanup.policy", "compact", "encryption.required", "true"));
        TopicPartition partition = new TopicPartition(topic, 0);
        SubjectKeys subjects =
                SubjectKeys.create(temporary.resolve("shared"), "secret".toCharArray(), 1, System::nanoTime);
        List<String> shredded = new ArrayList<>();
        SealPolicy own = subjectPolicy(subjects, (where, offset) -> shredded.add(where + "@" + offset));
        try (Producer producer = producer().seal(own).build()) {
            producer.sendBatch(topic, 0, List.of(subject(topic, "ada"), subject(topic, "eve"), subject(topic, "ada")))
                    .join();
            producer.sendBatch(topic, 0, List.of(subject(topic, "ada"), subject(topic, "ada")))
                    .join();

            // when
            subjects.shred(topic, "ada".getBytes(UTF_8));

            // then nothing more of this subject is sent, and the others are not concerned
            assertThatThrownBy(() -> producer.send(subject(topic, "ada")))
                    .isInstanceOf(SealingException.class)
                    .hasMessageContaining("a subject whose key was destroyed");
            producer.send(subject(topic, "bob"));
        }
        List<String> read = new ArrayList<>();
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .open(own)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            long deadline = System.nanoTime() + LONG.toNanos();
            int counted = 0;
            while (consumer.position(partition) < end && System.nanoTime() < deadline) {
                ConsumerRecords records = consumer.poll(POLL);
                counted += records.count();
                for (io.journalq.client.ConsumerRecord record : records) {
                    read.add(record.offset() + " " + new String(record.value(), UTF_8));
                }
            }
            assertThat(consumer.position(partition)).isEqualTo(end);
            assertThat(counted).isEqualTo(2);
        }
        assertThat(read).containsExactly("1 about eve", "5 about bob");
        assertThat(shredded).containsExactly(partition + "@0", partition + "@2", partition + "@3", partition + "@4");
    }

    @Test
    void shouldCountTheRecordsThatItReturnsWhenThePositionIsWithinABatchWithShreddedOnes() throws Exception {
        String topic = topic(SealMode.SUBJECT, 1, Map.of("cleanup.policy", "compact"));
        TopicPartition partition = new TopicPartition(topic, 0);
        SubjectKeys subjects =
                SubjectKeys.create(temporary.resolve("within"), "secret".toCharArray(), 1, System::nanoTime);
        SealPolicy own = subjectPolicy(subjects, (where, offset) -> {});
        try (Producer producer = producer().seal(own).build()) {
            producer.sendBatch(
                            topic,
                            0,
                            List.of(
                                    subject(topic, "bob"),
                                    subject(topic, "ada"),
                                    subject(topic, "eve"),
                                    subject(topic, "ada")))
                    .join();
        }
        subjects.shred(topic, "ada".getBytes(UTF_8));

        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .open(own)
                .build()) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, 1);
            ConsumerRecords records = consumer.poll(LONG);

            assertThat(records.count()).isEqualTo(1);
            assertThat(records).singleElement().satisfies(record -> assertThat(record.offset())
                    .isEqualTo(2));
        }
    }

    @Test
    void shouldReadOnBehindTheBatchesThatItHasOpenedWhenTheListenerOfShreddedRecordsHasFailed() throws Exception {
        // given two batches without any record to return, and one for which the listener fails once
        String topic = topic(SealMode.SUBJECT, 1, Map.of("cleanup.policy", "compact"));
        TopicPartition partition = new TopicPartition(topic, 0);
        SubjectKeys subjects =
                SubjectKeys.create(temporary.resolve("fails"), "secret".toCharArray(), 1, System::nanoTime);
        List<Long> shredded = new ArrayList<>();
        SealPolicy own = subjectPolicy(subjects, (where, offset) -> {
            shredded.add(offset);
            if (offset == 2 && shredded.size() == 3) {
                throw new IllegalArgumentException("of the application");
            }
        });
        try (Producer producer = producer().seal(own).build()) {
            producer.sendBatch(topic, 0, List.of(subject(topic, "ada"))).join();
            producer.sendBatch(topic, 0, List.of(subject(topic, "ada"))).join();
            producer.sendBatch(topic, 0, List.of(subject(topic, "ada"), subject(topic, "bob")))
                    .join();
        }
        subjects.shred(topic, "ada".getBytes(UTF_8));

        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .open(own)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(partition));

            // when
            assertThatThrownBy(() -> consumer.poll(LONG)).hasMessage("of the application");

            // then
            assertThat(consumer.position(partition)).isEqualTo(2);
            assertThat(consumer.poll(LONG)).singleElement().satisfies(record -> assertThat(record.offset())
                    .isEqualTo(3));
            assertThat(shredded).containsExactly(0L, 1L, 2L, 2L);
        }
    }

    private static SealPolicy subjectPolicy(SubjectKeys subjects, SealPolicy.ShreddedListener listener) {
        return SealPolicy.builder()
                .realm(REALM)
                .trust(TrustPolicy.pinned(Registry.fingerprint(vault.root().publicKey()), null))
                .vault(vault)
                .subjects(subjects)
                .onShredded(listener)
                .sender("billing")
                .build();
    }

    private static ProducerRecord subject(String topic, String name) {
        return ProducerRecord.of(topic, 0, name.getBytes(UTF_8), ("about " + name).getBytes(UTF_8));
    }

    @ParameterizedTest
    @EnumSource(
            value = SealMode.class,
            names = {"RECORD", "TOKEN", "SUBJECT"})
    void shouldReturnTheNewestValuesWhenATopicOfSealedRecordsIsCompacted(SealMode mode) {
        // given many versions of few keys
        String topic = topic(
                mode,
                1,
                Map.of(
                        "encryption.required", "true",
                        "cleanup.policy", "compact",
                        "segment.bytes", "16384",
                        "min.cleanable.dirty.ratio", "0.01",
                        "delete.retention.ms", "0"));
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Producer producer = producer().seal(policy).batchSizeBytes(2_000).build()) {
            for (int round = 0; round < 60; round++) {
                for (int key = 0; key < 10; key++) {
                    var unused = producer.sendAsync(ProducerRecord.of(
                            topic, 0, ("k" + key).getBytes(UTF_8), ("round " + round).getBytes(UTF_8)));
                }
            }
            producer.send(ProducerRecord.of(topic, 0, "k3".getBytes(UTF_8), null));
        }

        // when the broker has removed some of them
        long deadline = System.nanoTime() + LONG.toNanos();
        Map<String, String> table = new TreeMap<>();
        int records = Integer.MAX_VALUE;
        while (records >= 400 && System.nanoTime() < deadline) {
            table.clear();
            records = 0;
            try (Consumer consumer = consumer(topic)) {
                long end = consumer.endOffsets(List.of(partition)).get(partition);
                while (consumer.position(partition) < end) {
                    ConsumerRecords polled = consumer.poll(POLL);
                    for (io.journalq.client.ConsumerRecord record : polled) {
                        records++;
                        String key = new String(record.key(), UTF_8);
                        if (record.value() == null) {
                            table.remove(key);
                        } else {
                            table.put(key, new String(record.value(), UTF_8));
                        }
                    }
                }
            }
        }

        // then
        assertThat(records).isLessThan(400);
        assertThat(table).hasSize(9).doesNotContainKey("k3");
        assertThat(table.values()).containsOnly("round 59");
        if (mode == SealMode.TOKEN) {
            assertThat(readRaw(topic, 1)).allSatisfy(record -> assertThat(record.key())
                    .as("the broker sees no key")
                    .hasSize(TokenKey.TOKEN_SIZE_BYTES));
        }
    }

    @Test
    void shouldAcceptOnlySealedBatchesWhenTheTopicRequiresThem() {
        String topic = topic(SealMode.BATCH, 1, Map.of("encryption.required", "true", "compression.type", "gzip"));
        registry.change(next -> next.withSignatures(topic, true));
        try (Producer sealed = producer()
                        .seal(policy)
                        .compression(CompressionCodec.LZ4)
                        .build();
                Producer plain = producer().build();
                KafkaProducer<byte[], byte[]> kafka = new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.bootstrapServers()),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            sealed.send(record(topic, 0, "one"));
            assertThatThrownBy(() -> plain.send(record(topic, 0, "plain")))
                    .isInstanceOf(JournalQException.class)
                    .hasMessageContaining("record 0 is not sealed")
                    .hasMessageContaining("encryption.required");
            assertThatThrownBy(() -> kafka.send(new org.apache.kafka.clients.producer.ProducerRecord<>(
                                    topic, 0, null, "plain".getBytes(UTF_8)))
                            .get())
                    .hasCauseInstanceOf(InvalidRecordException.class);
            sealed.send(record(topic, 0, "two"));
        }

        try (Consumer consumer = consumer(topic)) {
            assertThat(read(consumer, 2).get(0)).containsExactly("one", "two");
        }
    }

    @Test
    void shouldRequireSealedRecordsWhenTheTopicIsCompacted() {
        Map<String, String> settings = Map.of("encryption.required", "true", "cleanup.policy", "compact");
        String records = topic(SealMode.RECORD, 1, settings);
        String batches = topic(SealMode.BATCH, 1, settings);
        try (Producer sealed = producer().seal(policy).build();
                Producer plain = producer().build()) {
            sealed.send(record(records, 0, "one"));
            sealed.send(ProducerRecord.builder(records)
                    .partition(0)
                    .key("key of one".getBytes(UTF_8))
                    .build());
            sealed.send(record(records, 0, "two"));
            assertThatThrownBy(() -> plain.send(record(records, 0, "plain"))).hasMessageContaining("is not sealed");
            assertThatThrownBy(() -> sealed.send(record(batches, 0, "batch"))).hasMessageContaining("mode batch");
        }

        assertThat(readRaw(records, 3))
                .extracting(ConsumerRecord::value)
                .satisfiesExactly(
                        one -> assertThat(one).isNotEmpty(),
                        tombstone -> assertThat(tombstone).isNull(),
                        two -> assertThat(two).isNotEmpty());
    }

    @Test
    void shouldRefuseASettingThatReordersBatchesWhenAProducerSeals() {
        assertThatThrownBy(() -> producer().seal(policy).idempotent(false).build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** A power loss would take a key that the broker only has in memory, and a producer uses it for a day. */
    @Test
    void shouldHaveKeysAndTheRegistryOnDiskBeforeTheyAreAcknowledgedWhateverTheDefaultOfTheBrokerIs() {
        try (EmbeddedBroker fast = JournalQ.embedded()
                .set("delivery.mode", "performance")
                .set("write.interval.ms", "60000")
                .start()) {
            // given
            try (Admin admin =
                    Admin.builder().bootstrapServers(fast.bootstrapServers()).build()) {
                SealAdmin.createTopics(admin, NewTopic.BROKER_DEFAULT);
            }
            KeyLog keys = KeyTopics.of(Admin.builder().bootstrapServers(fast.bootstrapServers()));

            for (String topic : List.of(KeyPacket.TOPIC, Registry.TOPIC)) {
                // when
                long offset = keys.append(topic, "key".getBytes(UTF_8), "value".getBytes(UTF_8));

                // then it is not one of the records that wait in memory
                assertThat(keys.read(topic, offset)).as(topic).isNotNull();
                assertThat(configs(fast, topic)).as(topic).containsEntry("flush.messages", "1");
            }
        }
    }

    private static Map<String, String> configs(EmbeddedBroker of, String topic) {
        ConfigResource resource = ConfigResource.topic(topic);
        try (Admin admin =
                Admin.builder().bootstrapServers(of.bootstrapServers()).build()) {
            Map<String, String> configs = new HashMap<>();
            admin.describeConfigs(List.of(resource))
                    .get(resource)
                    .forEach(entry -> configs.put(entry.name(), entry.value()));
            return configs;
        }
    }
}
