package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.ConsumerSettings;
import io.journalq.bench.driver.MessageConsumer;
import io.journalq.bench.payload.PayloadPool;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Consumers that share a topic's partitions: each reads its own, checks that offsets follow on each other, and compares a
 * sample of the values with what was sent. Counters may be read by any thread.
 */
final class Consumption implements MessageConsumer.Visitor {
    /** One message in so many is compared byte by byte; a prime, so that it meets every place in a batch. */
    static final int SAMPLE_INTERVAL = 97;

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);

    private final PayloadPool pool;
    private final int sampleInterval;
    private final long[] nextOffset;
    private final LongAdder consumed = new LongAdder();
    private final LongAdder verified = new LongAdder();
    private final AtomicReference<String> problem = new AtomicReference<>();
    private final Callers callers = new Callers(false);
    private volatile boolean running = true;

    /** One message in {@code sampleInterval} is compared byte by byte. */
    Consumption(PayloadPool pool, List<Long> startOffsets, int sampleInterval) {
        this.pool = pool;
        this.sampleInterval = sampleInterval;
        this.nextOffset = startOffsets.stream().mapToLong(Long::longValue).toArray();
    }

    /** Opens the consumers and lets each read on a thread of its own. */
    void start(ClientDriver client, String bootstrap, String topic, int consumers, Map<String, String> clientSettings) {
        int count = Math.min(consumers, nextOffset.length);
        for (int number = 0; number < count; number++) {
            Map<Integer, Long> own = new TreeMap<>();
            for (int partition = number; partition < nextOffset.length; partition += count) {
                own.put(partition, nextOffset[partition]);
            }
            MessageConsumer consumer = client.openConsumer(new ConsumerSettings(bootstrap, topic, own, clientSettings));
            callers.start("consumer-" + number, () -> read(consumer));
        }
    }

    private void read(MessageConsumer consumer) {
        try (consumer) {
            while (running) {
                consumed.add(consumer.poll(POLL_TIMEOUT, this));
            }
        } catch (Exception failure) {
            noteProblem("a consumer failed: " + failure);
        }
    }

    /** Each partition has one reader, so its entry has one writer. */
    @Override
    public boolean onMessage(int partition, long offset) {
        if (offset != nextOffset[partition]) {
            noteProblem("partition " + partition + " gave offset " + offset + " after " + (nextOffset[partition] - 1));
        }
        nextOffset[partition] = offset + 1;
        return offset % sampleInterval == 0;
    }

    @Override
    public void onValue(int partition, long offset, byte[] value) {
        if (!pool.holds(value)) {
            noteProblem("partition " + partition + " offset " + offset + " holds what nobody sent");
        }
        verified.increment();
    }

    /** Lets the consumers read until there are {@code expected} messages or the time is up, then stops them. */
    void finish(long expected, long timeoutMs) throws InterruptedException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        while (consumed.sum() < expected && problem.get() == null && System.nanoTime() < deadlineNs) {
            Thread.sleep(20);
        }
        running = false;
        if (!callers.join(timeoutMs)) {
            throw new BenchException("a consumer does not stop", "look at the broker's log");
        }
    }

    /** The first one stays. Any thread. */
    void noteProblem(String what) {
        problem.compareAndSet(null, what);
    }

    long consumed() {
        return consumed.sum();
    }

    long verified() {
        return verified.sum();
    }

    /** The first thing that was wrong; null when nothing was. */
    String problem() {
        return problem.get();
    }
}
