package io.journalq.chaos.failover;

import io.journalq.client.Acks;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A client that sends messages with acks=all to all partitions of a topic in turn, at a steady rate, on a thread of its
 * own. It closes when it is interrupted. The time-out of a request is {@link #REQUEST_TIMEOUT} where a client has one.
 */
abstract class FailoverClient extends Thread {
    static final Duration REQUEST_TIMEOUT = Duration.ofMillis(1_500);

    private static final int TICK_MS = 10;
    private static final int TICKS_PER_SECOND = 1_000 / TICK_MS;
    private static final int MESSAGE_BYTES = 100;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final Gaps gaps;
    private volatile String failure;
    private volatile boolean ending;

    /** What the client sends. */
    record Traffic(String servers, String topic, int partitions, int perSecond) {}

    private FailoverClient(String name, int partitions) {
        super(name);
        setDaemon(true);
        this.gaps = new Gaps(partitions);
    }

    /** The times without an acknowledgement. */
    Gaps gaps() {
        return gaps;
    }

    /** Why the client has ended; null while it runs. */
    String failure() {
        return failure;
    }

    /** Ends the client. */
    void end() {
        ending = true;
        interrupt();
    }

    /** Sends until the thread is interrupted. */
    abstract void work() throws Exception;

    @Override
    public void run() {
        try {
            work();
        } catch (Exception ended) {
            if (!ending) {
                failure = ended.toString();
            }
        }
    }

    final void onAcknowledged(int partition) {
        gaps.onAcknowledged(partition, System.nanoTime());
    }

    /** Sends one message. */
    private interface Sender {
        void send(int partition, byte[] value);
    }

    private static void pace(Traffic traffic, Sender sender) throws InterruptedException {
        byte[] value = new byte[MESSAGE_BYTES];
        long beganNanos = System.nanoTime();
        for (long sent = 0; ; ) {
            long due = (System.nanoTime() - beganNanos) / 1_000_000 * traffic.perSecond() / 1_000;
            // After a stall of this program, at most what a tenth of a second takes.
            for (long most = sent + traffic.perSecond() / 10; sent < due && sent < most; sent++) {
                sender.send((int) (sent % traffic.partitions()), value);
            }
            sent = Math.max(sent, due);
            Thread.sleep(1_000 / TICKS_PER_SECOND);
        }
    }

    /** The client of JournalQ. */
    static FailoverClient journalq(Traffic traffic) {
        return new FailoverClient("journalq", traffic.partitions()) {
            @Override
            void work() throws InterruptedException {
                try (Producer producer = Producer.builder()
                        .bootstrapServers(traffic.servers())
                        .acks(Acks.ALL)
                        .requestTimeout(REQUEST_TIMEOUT)
                        .build()) {
                    pace(traffic, (partition, value) -> {
                        var unused = producer.sendAsync(ProducerRecord.of(traffic.topic(), partition, null, value))
                                .thenAccept(metadata -> onAcknowledged(partition));
                    });
                }
            }
        };
    }

    /** The Java client of Kafka. */
    static FailoverClient kafka(Traffic traffic) {
        return new FailoverClient("kafka-clients", traffic.partitions()) {
            @Override
            void work() throws InterruptedException {
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of(
                                "bootstrap.servers",
                                traffic.servers(),
                                "acks",
                                "all",
                                "request.timeout.ms",
                                (int) REQUEST_TIMEOUT.toMillis(),
                                "delivery.timeout.ms",
                                60_000),
                        new ByteArraySerializer(),
                        new ByteArraySerializer());
                try {
                    pace(traffic, (partition, value) -> {
                        var unused = producer.send(
                                new org.apache.kafka.clients.producer.ProducerRecord<>(
                                        traffic.topic(), partition, null, value),
                                (metadata, failed) -> {
                                    if (failed == null) {
                                        onAcknowledged(partition);
                                    }
                                });
                    });
                } finally {
                    // The thread is interrupted, which would end the closing at once.
                    boolean unused = Thread.interrupted();
                    producer.close(CLOSE_TIMEOUT);
                }
            }
        };
    }

    /**
     * A client in a process of its own. It gets the bootstrap servers, the topic, the number of partitions, the messages
     * per second and the time-out of a request in ms as arguments, prints the number of the partition when a message is
     * acknowledged, at least every 5 ms, and ends with its input.
     */
    static FailoverClient process(String name, List<String> program, Traffic traffic) {
        return new FailoverClient(name, traffic.partitions()) {
            @Override
            void work() throws IOException, InterruptedException {
                List<String> command = new ArrayList<>(program);
                command.addAll(List.of(
                        traffic.servers(),
                        traffic.topic(),
                        Integer.toString(traffic.partitions()),
                        Integer.toString(traffic.perSecond()),
                        Long.toString(REQUEST_TIMEOUT.toMillis())));
                Process process = new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
                try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                    for (String line = lines.readLine(); line != null && !isInterrupted(); line = lines.readLine()) {
                        onAcknowledged(Integer.parseInt(line));
                    }
                } finally {
                    process.destroyForcibly();
                }
                throw new IOException("the program ended with exit code " + process.waitFor());
            }
        };
    }
}
