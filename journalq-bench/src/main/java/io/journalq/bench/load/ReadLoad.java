package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.BatchProducer;
import io.journalq.bench.driver.ClientDriver.ConsumerSettings;
import io.journalq.bench.driver.ClientDriver.MessageConsumer;
import io.journalq.bench.driver.ClientDriver.MessageConsumer.Visitor;
import io.journalq.bench.driver.ClientDriver.ProducerSettings;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** Stores messages in a topic, and reads them again and again, from the first to the last. One thread. */
public final class ReadLoad {
    private static final int BATCH_SIZE = 100;
    private static final Duration POLL_TIMEOUT = Duration.ofSeconds(10);
    private static final String CODEC = "lz4";
    private static final Visitor COUNTS_ONLY = new Visitor() {
        @Override
        public boolean onMessage(int partition, long offset) {
            return false;
        }

        @Override
        public void onValue(int partition, long offset, byte[] value) {
            throw new IllegalStateException("no value was asked for");
        }
    };

    private final String topic;
    private final int partitions;
    private final long messages;

    /**
     * Describes what is stored and read.
     *
     * @param topic an existing, empty topic
     * @param messages rounded down to whole batches of {@value #BATCH_SIZE} in each partition
     */
    public ReadLoad(String topic, int partitions, long messages) {
        this.topic = topic;
        this.partitions = partitions;
        long round = (long) BATCH_SIZE * partitions;
        this.messages = messages / round * round;
    }

    /** Messages read per second, and the broker's processor time for each. */
    public record Result(double perSecond, double brokerMicros) {}

    /** Stores the messages. */
    public void store(ClientDriver client, String bootstrap, PayloadPool pool) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (BatchProducer producer =
                client.openBatchProducer(new ProducerSettings(bootstrap, topic, CODEC, Map.of()))) {
            for (long batch = 0; batch < messages / BATCH_SIZE; batch++) {
                List<byte[]> values = new ArrayList<>(BATCH_SIZE);
                for (int i = 0; i < BATCH_SIZE; i++) {
                    values.add(pool.message(batch * BATCH_SIZE + i));
                }
                producer.send((int) (batch % partitions), values, failed -> {
                    if (failed != null) {
                        failure.compareAndSet(null, failed);
                    }
                });
            }
            producer.flush();
        } catch (InterruptedException interrupted) {
            throw interrupted;
        } catch (Exception failed) {
            failure.compareAndSet(null, failed);
        }
        if (failure.get() != null) {
            throw new BenchException("cannot store the messages to read", "check the broker's log", failure.get());
        }
    }

    /**
     * Reads the stored messages until the time is over. Counts them, and decodes no values.
     *
     * @param warmup during which nothing is counted
     */
    public Result read(ClientDriver client, String bootstrap, long brokerPid, Duration warmup, Duration duration)
            throws InterruptedException {
        Position position = new Position(client, bootstrap);
        try {
            position.readFor(warmup);
            ResourceUse.Meter meter = ResourceUse.start(brokerPid);
            long count = position.readFor(duration);
            ResourceUse use = meter.stop();
            return new Result(count / use.seconds(), use.brokerMicrosPer(count));
        } finally {
            position.close();
        }
    }

    /** A consumer, and how many messages it has read. A new one follows when it has read all. */
    private final class Position implements AutoCloseable {
        private final ClientDriver client;
        private final ConsumerSettings settings;
        private MessageConsumer consumer;
        private long readByConsumer;

        private Position(ClientDriver client, String bootstrap) {
            this.client = client;
            Map<Integer, Long> starts = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                starts.put(partition, 0L);
            }
            this.settings = new ConsumerSettings(bootstrap, topic, starts, Map.of());
        }

        /** Returns the number of messages. */
        private long readFor(Duration time) throws InterruptedException {
            long endNs = System.nanoTime() + time.toNanos();
            long count = 0;
            while (System.nanoTime() < endNs) {
                if (consumer == null) {
                    consumer = client.openConsumer(settings);
                    readByConsumer = 0;
                }
                int read = poll();
                count += read;
                readByConsumer += read;
                if (readByConsumer == messages) {
                    close();
                }
            }
            return count;
        }

        private int poll() throws InterruptedException {
            try {
                int read = consumer.poll(POLL_TIMEOUT, COUNTS_ONLY);
                if (read == 0) {
                    throw new BenchException(
                            "the broker sent " + readByConsumer + " of " + messages + " messages, and then none for "
                                    + POLL_TIMEOUT.toSeconds() + " s",
                            "check the broker's log");
                }
                return read;
            } catch (InterruptedException | BenchException known) {
                throw known;
            } catch (Exception failed) {
                throw new BenchException("a consumer failed", "check the broker's log", failed);
            }
        }

        @Override
        public void close() {
            if (consumer != null) {
                consumer.close();
                consumer = null;
            }
        }
    }
}
