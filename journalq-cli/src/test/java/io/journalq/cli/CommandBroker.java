package io.journalq.cli;

import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.EmbeddedBrokerBuilder;
import io.journalq.embedded.JournalQ;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A real broker in this process, commands that are run against it, and Kafka's clients of it. */
public final class CommandBroker implements AutoCloseable {
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(20);

    private final EmbeddedBroker broker;

    public CommandBroker(Path dataDirectory) {
        this(dataDirectory, Map.of());
    }

    CommandBroker(Path dataDirectory, Map<String, String> settings) {
        EmbeddedBrokerBuilder builder = JournalQ.embedded()
                // Creating write-ahead files of the default size takes time on a slow disk.
                .set("write.ahead.max.bytes", "1048576")
                .inDirectory(dataDirectory);
        settings.forEach(builder::set);
        this.broker = builder.start();
    }

    public String bootstrap() {
        return broker.bootstrapServers();
    }

    public int port() {
        return broker.port();
    }

    /** Runs a command, however it ends. */
    public CommandRun run(String... words) {
        return runWithInput("", words);
    }

    /** Runs a command that reads this. */
    public CommandRun runWithInput(String input, String... words) {
        return CommandRun.journalqWithInput(
                input,
                Stream.concat(Stream.of(words), Stream.of("--bootstrap", bootstrap()))
                        .toArray(String[]::new));
    }

    /** Runs a command that must succeed. */
    public CommandRun done(String... words) {
        return doneWithInput("", words);
    }

    /** Runs a command that reads this and must succeed. */
    public CommandRun doneWithInput(String input, String... words) {
        CommandRun run = runWithInput(input, words);
        if (run.exitCode() != 0) {
            throw new AssertionError(String.join(" ", words) + " ended with " + run.exitCode() + ": " + run.err());
        }
        return run;
    }

    Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrap()));
    }

    KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        return new KafkaProducer<>(withBootstrap(settings), new ByteArraySerializer(), new ByteArraySerializer());
    }

    KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> settings) {
        Map<String, Object> all = withBootstrap(settings);
        all.put("auto.offset.reset", "earliest");
        all.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Map<String, Object> withBootstrap(Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", bootstrap());
        return all;
    }

    /** Reads {@code count} records of the partitions from the beginning, in the order in which they arrive. */
    List<ConsumerRecord<byte[], byte[]>> readAll(List<TopicPartition> partitions, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(Map.of())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadlineNanos = System.nanoTime() + READ_TIMEOUT.toNanos();
            while (records.size() < count && System.nanoTime() < deadlineNanos) {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
        }
        return records;
    }

    /** Polls until all partitions that it waits for are assigned. */
    static void awaitAssignment(KafkaConsumer<byte[], byte[]> consumer, int partitions) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (consumer.assignment().size() != partitions) {
            if (System.nanoTime() > deadlineNanos) {
                throw new AssertionError("no assignment of " + partitions + " partitions within 30 s");
            }
            consumer.poll(Duration.ofMillis(50));
        }
    }

    @Override
    public void close() {
        broker.close();
    }
}
