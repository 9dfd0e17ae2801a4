package io.journalq.server.shard;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidation.RecordError;
import io.journalq.server.loop.Limit;
import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * One batch on its way into one partition, and what became of it. Filled in by whoever sends it, decided by its {@link
 * PartitionHost}; touched by one thread at a time, handed from loop to loop.
 */
public abstract class Append {
    private static final long NONE = -1L;

    private final ByteBuf records;
    private final int produceVersion;
    private final boolean inTransaction;
    private ErrorCode error = ErrorCode.NONE;
    private String errorMessage;
    private List<RecordError> recordErrors = List.of();
    private Limit limit;
    private long baseOffset = NONE;
    private long nextOffset = NONE;
    private long appendTimeMs = NONE;
    private long logStartOffset = NONE;
    private int keptSizeBytes;

    /**
     * Prepares an append.
     *
     * @param records what the producer sent for the partition; null when it sent nothing. It must stay readable until
     *     the append is decided
     * @param produceVersion version of the request that brought it
     */
    protected Append(ByteBuf records, int produceVersion) {
        this(records, produceVersion, false);
    }

    /**
     * Prepares an append that may belong to a transaction.
     *
     * @param inTransaction whether the transaction's coordinator knows that the partition takes part, when the append
     *     reaches its partition: without that, no batch of a transaction goes in (KIP-890)
     */
    protected Append(ByteBuf records, int produceVersion, boolean inTransaction) {
        this.records = records;
        this.produceVersion = produceVersion;
        this.inTransaction = inTransaction;
    }

    /** Called once, on the loop of the partition's shard: the batch is as safe as its topic demands, or refused. */
    protected abstract void onDecided();

    /** Whether anybody waits for the outcome; a batch that would take long to look into is not, else. Any thread. */
    protected boolean isAwaited() {
        return true;
    }

    final ByteBuf records() {
        return records;
    }

    final int produceVersion() {
        return produceVersion;
    }

    final boolean isInTransaction() {
        return inTransaction;
    }

    /** {@link ErrorCode#NONE} when the batch was appended, now or, as a duplicate, before. */
    public final ErrorCode error() {
        return error;
    }

    /** The error in words for people; null for the code's own. */
    public final String errorMessage() {
        return errorMessage;
    }

    /** The limit that the batch was refused for; null when it was not for one. */
    public final Limit limit() {
        return limit;
    }

    private static Limit limit(BatchValidation.Exceeded exceeded) {
        if (exceeded == null) {
            return null;
        }
        return switch (exceeded) {
            case BATCH_SIZE -> Limit.BATCH_BYTES;
            case DECOMPRESSED_SIZE -> Limit.DECOMPRESSED_BYTES;
            case HEADERS -> Limit.MESSAGE_HEADERS;
        };
    }

    /** The records that made the batch unsound; empty when it is not for single records that it was refused. */
    public final List<RecordError> recordErrors() {
        return recordErrors;
    }

    /** Offset of the batch's first record; -1 when it was not appended. */
    public final long baseOffset() {
        return baseOffset;
    }

    /** The broker's time of appending in milliseconds since 1970 UTC, where the topic keeps that; else -1. */
    public final long appendTimeMs() {
        return appendTimeMs;
    }

    /** The partition's first offset; -1 when it was not appended. */
    public final long logStartOffset() {
        return logStartOffset;
    }

    /** Offset behind the batch: what must be written, or flushed, before the producer hears of it. */
    final long nextOffset() {
        return nextOffset;
    }

    /** The batch is kept in that many bytes, which need not be those that came. */
    final void keep(int sizeBytes) {
        keptSizeBytes = sizeBytes;
    }

    /** What the batch adds to the partition; 0 for a duplicate. */
    final int keptSizeBytes() {
        return keptSizeBytes;
    }

    /** The batch has its place, now or, as a duplicate, since before. */
    final void place(long itsBaseOffset, long itsNextOffset, long itsAppendTimeMs) {
        baseOffset = itsBaseOffset;
        nextOffset = itsNextOffset;
        appendTimeMs = itsAppendTimeMs;
    }

    /** The batch is safe. */
    final void complete(long startOffset) {
        logStartOffset = startOffset;
        onDecided();
    }

    /** The batch is not appended, for what is in its records. */
    final void refuse(BatchValidation unsound) {
        recordErrors = unsound.recordErrors();
        limit = limit(unsound.exceeded());
        refuse(unsound.error(), unsound.message());
    }

    /** The batch is not appended, for a limit that is not in its records alone. */
    final void refuse(Limit reached, ErrorCode refusal, String message) {
        limit = reached;
        refuse(refusal, message);
    }

    /** The batch is not appended. Also for the sender, when there is no such partition. */
    public final void refuse(ErrorCode refusal, String message) {
        error = refusal;
        errorMessage = message;
        baseOffset = NONE;
        appendTimeMs = NONE;
        onDecided();
    }
}
