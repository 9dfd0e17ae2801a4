package io.journalq.client.internal.produce;

import io.journalq.client.record.BatchMetadata;
import java.util.concurrent.CompletableFuture;

/** The result of a batch that was sent as one. Thread-safe. */
public final class BatchFuture extends CompletableFuture<BatchMetadata> {
    private volatile boolean logAppendTime;

    /** Called before the future completes. */
    void setLogAppendTime() {
        logAppendTime = true;
    }

    /** Whether the broker has set the timestamps of all records, so that those of the producer do not count. */
    public boolean hasLogAppendTime() {
        return logAppendTime;
    }
}
