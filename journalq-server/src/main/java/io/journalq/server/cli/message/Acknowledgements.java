package io.journalq.server.cli.message;

import io.journalq.client.RecordMetadata;
import io.journalq.server.cli.shell.CommandFailure;
import io.journalq.server.cli.shell.OutputClosed;
import io.journalq.server.cli.shell.Quantity;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Counts what became of messages that were sent. The sending thread adds them and waits; they complete on the client's
 * threads.
 */
final class Acknowledgements {
    private final Consumer<RecordMetadata> listener;
    private long pending;
    private long acknowledged;
    private Throwable firstFailure;

    /**
     * Counts, and tells of each message.
     *
     * @param listener called under this object's lock, so never by two threads
     */
    Acknowledgements(Consumer<RecordMetadata> listener) {
        this.listener = listener;
    }

    /** Follows one message. */
    void follow(CompletableFuture<RecordMetadata> send) {
        synchronized (this) {
            pending++;
        }
        var unused = send.whenComplete(this::complete);
    }

    private synchronized void complete(RecordMetadata where, Throwable failure) {
        pending--;
        if (failure == null) {
            acknowledged++;
            try {
                listener.accept(where);
            } catch (OutputClosed nobodyReads) {
                fail(nobodyReads);
            }
        } else {
            fail(failure);
        }
        notifyAll();
    }

    private void fail(Throwable failure) {
        if (firstFailure == null) {
            firstFailure = failure;
        }
    }

    synchronized long acknowledged() {
        return acknowledged;
    }

    /** Whether anything went wrong so far. */
    synchronized boolean failed() {
        return firstFailure != null;
    }

    /** Waits until every message that was followed is done. */
    synchronized void awaitAll() throws InterruptedException {
        while (pending > 0) {
            wait();
        }
    }

    /** Throws the first failure, with the number of messages that did arrive. */
    synchronized void throwFailure(String topic) {
        if (firstFailure instanceof OutputClosed closed) {
            throw closed;
        }
        if (firstFailure != null) {
            throw new CommandFailure(Quantity.count(acknowledged, "message") + " written to " + topic + ", then: "
                    + firstFailure.getMessage());
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
