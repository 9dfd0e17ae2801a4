package io.journalq.cli.message;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.RecordMetadata;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Counts the results of sent messages. The sending thread adds them and waits; they complete on the threads of the
 * client.
 */
final class Acknowledgements {
    private final Consumer<RecordMetadata> listener;
    private final Runnable onIdle;
    private final AtomicLong pending = new AtomicLong();
    private final LongAdder acknowledged = new LongAdder();
    private final AtomicReference<Throwable> firstFailure = new AtomicReference<>();

    /**
     * Counts, and reports each message.
     *
     * @param listener called with the lock of this object held, so never by two threads; null for none
     * @param onIdle called in the same way, when the listener knows of all messages so far
     */
    Acknowledgements(Consumer<RecordMetadata> listener, Runnable onIdle) {
        this.listener = listener;
        this.onIdle = onIdle;
    }

    /** Adds one message. */
    void follow(CompletableFuture<RecordMetadata> send) {
        pending.incrementAndGet();
        var unused = send.whenComplete((where, failure) -> complete(1, where, failure));
    }

    /** Adds a batch of messages, which are not reported individually. */
    void follow(CompletableFuture<BatchMetadata> send, int messages) {
        pending.incrementAndGet();
        var unused = send.whenComplete((where, failure) -> complete(messages, null, failure));
    }

    private synchronized void complete(int messages, RecordMetadata where, Throwable failure) {
        if (failure == null) {
            acknowledged.add(messages);
            if (where != null) {
                tell(() -> listener.accept(where));
            }
        } else {
            firstFailure.compareAndSet(null, failure);
        }
        if (pending.decrementAndGet() == 0) {
            // Also if the last message has failed: the listener knows of those before it.
            tell(onIdle);
            notifyAll();
        }
    }

    private void tell(Runnable call) {
        if (listener == null) {
            return;
        }
        try {
            call.run();
        } catch (Terminal.OutputClosed | CommandFailure notWritten) {
            firstFailure.compareAndSet(null, notWritten);
        }
    }

    /** The number of acknowledged messages. */
    long acknowledged() {
        return acknowledged.sum();
    }

    /** Whether a message has not completed. */
    boolean isPending() {
        return pending.get() > 0;
    }

    /** Whether a message has failed. */
    boolean failed() {
        return firstFailure.get() != null;
    }

    /** Waits until all added messages have completed. */
    synchronized void awaitAll() throws InterruptedException {
        while (pending.get() > 0) {
            wait();
        }
    }

    /** Waits until all added messages have completed, but not longer than this. */
    synchronized void awaitAll(long timeoutMs) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        for (long leftNs = endNs - System.nanoTime(); pending.get() > 0 && leftNs > 0; ) {
            TimeUnit.NANOSECONDS.timedWait(this, leftNs);
            leftNs = endNs - System.nanoTime();
        }
    }

    /** Throws the first failure, with the number of acknowledged messages. */
    void throwFailure(String topic) {
        Throwable failure = firstFailure.get();
        if (failure instanceof Terminal.OutputClosed closed) {
            throw closed;
        }
        if (failure != null) {
            throw new CommandFailure(Quantity.count(acknowledged(), "message") + " written to " + topic + ", then: "
                    + failure.getMessage());
        }
    }

    /** Returns topic, partition, offset and timestamp as JSON. */
    static Map<String, Object> jsonOf(RecordMetadata where) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", where.topic());
        json.put("partition", where.partition());
        json.put("offset", where.offset());
        json.put("timestamp", where.timestampMs());
        return json;
    }
}
