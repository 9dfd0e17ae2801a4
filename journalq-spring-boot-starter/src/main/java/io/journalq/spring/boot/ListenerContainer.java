package io.journalq.spring.boot;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.ConsumerRecords;
import io.journalq.client.error.SerializationException;
import io.journalq.common.id.TopicPartition;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads topics as one member of a group and calls a method with each record, on a thread of its own. The consumer commits
 * automatically: in a poll, which covers what the method has received before, and at the end.
 */
final class ListenerContainer {
    private static final Logger LOGGER = LoggerFactory.getLogger(JournalQListener.class);

    /** How soon the thread sees that it has to stop. */
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);

    /** How long {@link #stop} waits for a method that is being called. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

    private final ListenerMethod method;
    private final Consumer consumer;
    private final List<String> topics;
    private final JournalQProperties.ListenerSettings settings;
    /** How long the records of a poll are delivered before the next one. */
    private final long maxTurnNanos;

    private final ListenerFailureHandler failures;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final Thread thread;

    /**
     * Creates a container that owns the consumer.
     *
     * @param maxPollInterval after which the consumer leaves its group
     */
    ListenerContainer(
            String name,
            ListenerMethod method,
            Consumer consumer,
            List<String> topics,
            JournalQProperties.ListenerSettings settings,
            Duration maxPollInterval,
            ListenerFailureHandler failures) {
        this.method = method;
        this.consumer = consumer;
        this.topics = topics;
        this.settings = settings;
        this.maxTurnNanos = maxPollInterval.dividedBy(2).toNanos();
        this.failures = failures;
        // Not a daemon: an application that only listens must not end.
        this.thread = new Thread(this::run, name);
    }

    void start() {
        thread.start();
    }

    /** Makes the thread stop after the record that it is at. The records that follow are not committed. */
    void requestStop() {
        stopping.countDown();
    }

    /** Stops and waits until the consumer has committed and left its group. */
    void stop() {
        requestStop();
        try {
            thread.join(STOP_TIMEOUT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOGGER.warn(
                    "the listener {} has not returned for {} s; its record will be delivered again",
                    method.name(),
                    STOP_TIMEOUT.toSeconds());
        }
    }

    private void run() {
        try (consumer) {
            while (!isStopping()) {
                try {
                    consumer.subscribe(topics);
                    while (!isStopping()) {
                        poll();
                    }
                } catch (RuntimeException | Error e) {
                    // A lack of memory can pass. Without this thread, nobody would read the partitions.
                    LOGGER.error(
                            "the listener {} cannot read {}; next attempt in {} ms",
                            method.name(),
                            topics,
                            settings.retryDelay().toMillis(),
                            e);
                    pause();
                }
            }
        } catch (RuntimeException e) {
            LOGGER.warn("the consumer of the listener {} could not leave its group", method.name(), e);
        }
    }

    private void poll() {
        ConsumerRecords records = consumer.poll(POLL_TIMEOUT);
        Map<TopicPartition, Long> positions = records.startOffsets();
        long begunNanos = System.nanoTime();
        boolean complete = false;
        try {
            for (ConsumerRecord record : records) {
                // A poll can return more records than a slow method takes in the time for which the consumer stays in
                // its group. Without a commit, it would receive the same ones again and again.
                boolean late = System.nanoTime() - begunNanos > maxTurnNanos;
                if (late || isStopping() || !deliver(record)) {
                    return;
                }
                positions.put(new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
            }
            complete = true;
        } finally {
            // Also if the next record cannot be read: the records behind it must not be committed.
            if (!complete) {
                rewind(positions);
            }
        }
    }

    /**
     * Calls the method until it returns. Returns false if the record must be delivered again. An error of a serde or of the
     * failure handler is one of the record, too: if it ended the thread, the consumer would commit what follows.
     */
    private boolean deliver(ConsumerRecord record) {
        for (int attempt = 1; ; attempt++) {
            try {
                method.call(record);
                return true;
            } catch (Exception | Error e) {
                if (attempt >= settings.maxAttempts() || e instanceof SerializationException) {
                    return giveUp(record, e instanceof Exception failure ? failure : new InvocationTargetException(e));
                }
                LOGGER.warn("the listener {} failed in attempt {} with {}", method.name(), attempt, record, e);
            }
            pause();
            if (isStopping()) {
                return false;
            }
        }
    }

    private boolean giveUp(ConsumerRecord record, Exception cause) {
        try {
            failures.onFailure(record, cause);
            return true;
        } catch (RuntimeException | Error e) {
            LOGGER.error("the failure handler of the listener {} failed with {}", method.name(), record, e);
            pause();
            return false;
        }
    }

    /** Moves the positions back to the records that the method has not received, so that they are not committed. */
    private void rewind(Map<TopicPartition, Long> positions) {
        positions.keySet().retainAll(consumer.assignment());
        positions.forEach(consumer::seek);
    }

    private boolean isStopping() {
        return stopping.getCount() == 0;
    }

    private void pause() {
        try {
            if (stopping.await(settings.retryDelay().toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            // Somebody wants this thread to end. The next wait of the consumer throws, too.
            requestStop();
        }
    }
}
