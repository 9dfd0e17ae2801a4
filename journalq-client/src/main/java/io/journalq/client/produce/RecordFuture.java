package io.journalq.client.produce;

import io.journalq.client.RecordMetadata;
import java.util.concurrent.CompletableFuture;

/** The result of one asynchronous send: its place in its batch, and the next one of the same batch. */
final class RecordFuture extends CompletableFuture<RecordMetadata> {
    final int index;
    final long timestampMs;
    RecordFuture next;

    RecordFuture(int index, long timestampMs) {
        this.index = index;
        this.timestampMs = timestampMs;
    }
}
