package io.journalq.cli.message;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.OutputClosed;
import io.journalq.cli.shell.Quantity;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.RecordMetadata;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Counts what became of messages that were sent. The sending thread adds them and waits; they complete on the client's
 * threads.
 */
final class Acknowledgements {
    private final Consumer<RecordMetadata> listener;
    private final AtomicLong pending = new AtomicLong();
    private final LongAdder acknowledged = new LongAdder();
    private final AtomicReference<Throwable> firstFailure = new AtomicReference<>();

    /**
     * Counts, and tells of each message.
     *
     * @param listener called under this object's lock, so never by two threads; null when nobody asks
     */
    Acknowledgements(Consumer<RecordMetadata> listener) {
        this.listener = listener;
    }

    /** Follows one message. */
    void follow(CompletableFuture<RecordMetadata> send) {
        pending.incrementAndGet();
        var unused = send.whenComplete((where, failure) -> complete(1, where, failure));
    }

    /** Follows a batch of messages, which nobody is told of one by one. */
    void follow(CompletableFuture<BatchMetadata> send, int messages) {
        pending.incrementAndGet();
        var unused = send.whenComplete((where, failure) -> complete(messages, null, failure));
    }

    private void complete(int messages, RecordMetadata where, Throwable failure) {
        if (failure == null) {
            acknowledged.add(messages);
            if (where != null) {
                tell(where);
            }
        } else {
            firstFailure.compareAndSet(null, failure);
        }
        if (pending.decrementAndGet() == 0) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    private void tell(RecordMetadata where) {
        if (listener == null) {
            return;
        }
        synchronized (this) {
            try {
                listener.accept(where);
            } catch (OutputClosed nobodyReads) {
                firstFailure.compareAndSet(null, nobodyReads);
            }
        }
    }

    /** The messages that arrived so far. */
    long acknowledged() {
        return acknowledged.sum();
    }

    /** Whether anything went wrong so far. */
    boolean failed() {
        return firstFailure.get() != null;
    }

    /** Waits until every message that was followed is done. */
    synchronized void awaitAll() throws InterruptedException {
        while (pending.get() > 0) {
            wait();
        }
    }

    /** Throws the first failure, with the number of messages that did arrive. */
    void throwFailure(String topic) {
        Throwable failure = firstFailure.get();
        if (failure instanceof OutputClosed closed) {
            throw closed;
        }
        if (failure != null) {
            throw new CommandFailure(Quantity.count(acknowledged(), "message") + " written to " + topic + ", then: "
                    + failure.getMessage());
        }
    }

    /** A topic, partition, offset and timestamp as JSON. */
    static Map<String, Object> jsonOf(RecordMetadata where) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", where.topic());
        json.put("partition", where.partition());
        json.put("offset", where.offset());
        json.put("timestamp", where.timestampMs());
        return json;
    }
}
