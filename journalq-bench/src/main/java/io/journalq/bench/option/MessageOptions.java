package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.PayloadSource;
import io.journalq.bench.payload.Stamp;
import picocli.CommandLine.Option;

/** What is sent. One thread. */
public final class MessageOptions {
    private static final int POOL_SIZE_BYTES = 16 << 20;

    @Option(names = "--message-size", defaultValue = "1024", paramLabel = "BYTES", description = "Default: 1024.")
    private int sizeBytes;

    @Option(names = "--payload", defaultValue = "text", description = PayloadSource.KINDS + ". Default: text.")
    private String payload;

    public int sizeBytes() {
        return sizeBytes;
    }

    public String payload() {
        return payload;
    }

    public PayloadPool pool() {
        return pool(sizeBytes);
    }

    /** Messages of another size. */
    public PayloadPool pool(int messageSizeBytes) {
        if (messageSizeBytes < Stamp.SIZE_BYTES) {
            throw new BenchException(
                    "message size " + messageSizeBytes + " has no room for the stamp",
                    "give " + Stamp.SIZE_BYTES + " bytes or more");
        }
        return PayloadPool.buildForStamps(payload, messageSizeBytes, POOL_SIZE_BYTES);
    }
}
