package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A large group whose members are all replaced, a few at a time, while messages are produced, with Kafka's own
 * consumer.
 */
@Tag("long")
class RollingRestartTest {
    private static final String TOPIC = "t";

    /** A multiple of {@link #WAVE}. */
    private static final int MEMBERS = 60;

    /**
     * Number of members that join or leave at a time. Kafka's consumer of the consumer protocol polls without pause
     * while it waits for the response to a heartbeat. Many members that join at once in this process would leave the
     * broker no processor time to respond.
     */
    private static final int WAVE = 10;

    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final long SEND_INTERVAL_MS = 10;

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;
    private final List<Member> members = new ArrayList<>();

    /** The numbers of all messages that some member handled. */
    private final Set<Long> handled = ConcurrentHashMap.newKeySet();

    /** The committed offset of each partition, as far as its members know. */
    private final Map<TopicPartition, Long> committed = new ConcurrentHashMap<>();

    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("group.initial.rebalance.delay.ms", "500")
                .with("group.consumer.min.heartbeat.interval.ms", "1000")
                .with("group.consumer.heartbeat.interval.ms", "1000")
                .with("offsets.topic.num.partitions", "1")
                .start();
        // One partition for each member: while a member has none or two, the group has not settled.
        broker.createTopic(TOPIC, MEMBERS, Map.of());
    }

    @AfterEach
    void stop() throws Exception {
        leave(members);
        broker.close();
    }

    private void join(String protocol) {
        for (int i = 0; i < WAVE; i++) {
            members.add(new Member(protocol));
        }
    }

    private static void leave(List<Member> leaving) throws InterruptedException {
        for (int i = 0; i < leaving.size(); i++) {
            leaving.get(i).stop(i % 2 == 0);
        }
        for (Member member : leaving) {
            member.thread.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void shouldLoseNothingAndRepeatOnlyWhatWasNotCommittedWhenEveryMemberIsReplaced(String protocol) throws Exception {
        // given a settled group, and messages that are produced continuously
        for (int wave = 0; wave < MEMBERS / WAVE; wave++) {
            join(protocol);
            await(() -> members.stream().noneMatch(member -> member.owned.isEmpty()));
        }
        await(this::isSettled);
        Load load = new Load();
        try {
            // when all members are replaced in waves, and every second one has not committed the last message that it
            // handled
            for (int wave = 0; wave < MEMBERS / WAVE; wave++) {
                List<Member> leaving = new ArrayList<>(members.subList(0, WAVE));
                members.subList(0, WAVE).clear();
                leave(leaving);
                join(protocol);
                await(this::isSettled);
            }
            long sent = load.stop();
            // then every message was handled, and none again after it was committed
            await(() -> handled.size() >= sent);
            assertThat(handled).hasSize((int) sent);
        } finally {
            load.close();
        }
        assertThat(violations).isEmpty();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadlineNs = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("deadline").isLessThan(deadlineNs);
            Thread.sleep(10);
        }
    }

    private boolean isSettled() {
        return members.stream().allMatch(member -> member.owned.size() == 1);
    }

    /** Sends numbered messages to all partitions in turn, until it is stopped. */
    private final class Load {
        private final KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("linger.ms", 0));
        private final Thread thread = new Thread(this::run, "load");
        private final Queue<Future<RecordMetadata>> acknowledgements = new ConcurrentLinkedQueue<>();
        private volatile boolean stopped;
        private long sent;

        Load() {
            thread.start();
        }

        private void run() {
            try {
                while (!stopped) {
                    byte[] value = ByteBuffer.allocate(Long.BYTES).putLong(sent).array();
                    acknowledgements.add(
                            producer.send(new ProducerRecord<>(TOPIC, (int) (sent % MEMBERS), null, value)));
                    sent++;
                    Thread.sleep(SEND_INTERVAL_MS);
                }
                producer.flush();
            } catch (InterruptedException e) {
                violations.add("interrupted");
            }
        }

        /** Stops it; returns the number of messages in the topic. */
        long stop() throws Exception {
            stopped = true;
            thread.join();
            for (Future<RecordMetadata> acknowledgement : acknowledgements) {
                acknowledgement.get();
            }
            return sent;
        }

        void close() throws Exception {
            stop();
            producer.close();
        }
    }

    /** One consumer on its own thread. */
    private final class Member implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Thread thread;
        private final Set<TopicPartition> owned = ConcurrentHashMap.newKeySet();
        private volatile boolean commits = true;
        private volatile boolean stopped;

        Member(String protocol) {
            Map<String, Object> settings = new HashMap<>(Map.of(
                    ConsumerConfig.GROUP_ID_CONFIG,
                    protocol + "-group",
                    ConsumerConfig.GROUP_PROTOCOL_CONFIG,
                    protocol,
                    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                    false,
                    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                    "earliest"));
            if (protocol.equals("classic")) {
                settings.put(
                        ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
                settings.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 200);
            }
            consumer = broker.consumer(settings);
            thread = new Thread(this::run, "member");
            thread.start();
        }

        private void run() {
            try (consumer) {
                consumer.subscribe(List.of(TOPIC), this);
                while (!stopped) {
                    ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                    records.forEach(this::handle);
                    if (commits && !records.isEmpty()) {
                        commit(records);
                    }
                }
            } catch (KafkaException failure) {
                violations.add("a member failed: " + failure);
            }
        }

        private void handle(ConsumerRecord<byte[], byte[]> message) {
            TopicPartition partition = new TopicPartition(message.topic(), message.partition());
            if (message.offset() < committed.getOrDefault(partition, 0L)) {
                violations.add(partition + ": " + message.offset() + " came again after " + committed.get(partition)
                        + " was committed");
            }
            handled.add(ByteBuffer.wrap(message.value()).getLong());
        }

        private void commit(ConsumerRecords<byte[], byte[]> records) {
            try {
                consumer.commitSync(records.nextOffsets());
            } catch (KafkaException refused) {
                // A commit in the middle of a rebalance may be refused; the handled messages are then read again.
                return;
            }
            records.nextOffsets().forEach((partition, next) -> committed.merge(partition, next.offset(), Math::max));
        }

        void stop(boolean committing) {
            commits = committing;
            stopped = true;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            owned.addAll(partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            partitions.forEach(owned::remove);
        }
    }
}
