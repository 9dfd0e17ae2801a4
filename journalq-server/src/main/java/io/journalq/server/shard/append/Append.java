package io.journalq.server.shard.append;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidation.RecordError;
import io.journalq.server.loop.Limit;
import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * One batch on its way into one partition, and its outcome. Its sender fills it in and hands it to the partition, whose loop
 * decides about it. One thread at a time touches it.
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
     * @param records the producer's records for the partition; null when it sent none. They must stay readable until the
     *     append is decided
     * @param produceVersion version of the request that brought it
     */
    protected Append(ByteBuf records, int produceVersion) {
        this(records, produceVersion, false);
    }

    /**
     * Prepares an append that may belong to a transaction.
     *
     * @param inTransaction whether the transaction's coordinator knows that the partition takes part, by the time that the
     *     append reaches its partition. Without that, no batch of a transaction is appended (KIP-890)
     */
    protected Append(ByteBuf records, int produceVersion, boolean inTransaction) {
        this.records = records;
        this.produceVersion = produceVersion;
        this.inTransaction = inTransaction;
    }

    /** The batch is as safe as its topic demands, or refused. Called once, on the loop of the partition's shard. */
    protected abstract void onDecided();

    /** Whether the sender waits for the outcome; otherwise a batch that takes long to validate is refused. Any thread. */
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

    /** The limit that the batch exceeded; null when it was not refused for a limit. */
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

    /** The records that made the batch unsound; empty when it was not refused for single records. */
    public final List<RecordError> recordErrors() {
        return recordErrors;
    }

    /** Offset of the batch's first record; -1 when it was not appended. */
    public final long baseOffset() {
        return baseOffset;
    }

    /** When the broker appended it, in milliseconds since 1970 UTC; -1 unless the topic keeps that. */
    public final long appendTimeMs() {
        return appendTimeMs;
    }

    /** The partition's first offset; -1 when it was not appended. */
    public final long logStartOffset() {
        return logStartOffset;
    }

    /** Offset behind the batch: everything before it must be written, or flushed, before the producer gets a response. */
    final long nextOffset() {
        return nextOffset;
    }

    /** The journal keeps the batch in {@code sizeBytes}, which may differ from the size that was sent. */
    final void keep(int sizeBytes) {
        keptSizeBytes = sizeBytes;
    }

    /** The bytes that the batch adds to the partition; 0 for a duplicate. */
    final int keptSizeBytes() {
        return keptSizeBytes;
    }

    /** The batch has its offset, now or, if it is a duplicate, since it was first appended. */
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

    /** The batch is not appended, because its records are not sound. */
    final void refuse(BatchValidation unsound) {
        recordErrors = unsound.recordErrors();
        limit = limit(unsound.exceeded());
        refuse(unsound.error(), unsound.message());
    }

    /** The batch is not appended, because of a limit that does not concern its records alone. */
    final void refuse(Limit reached, ErrorCode refusal, String message) {
        limit = reached;
        refuse(refusal, message);
    }

    /** The batch is not appended. The sender also calls this when there is no such partition. */
    public final void refuse(ErrorCode refusal, String message) {
        error = refusal;
        errorMessage = message;
        baseOffset = NONE;
        appendTimeMs = NONE;
        onDecided();
    }
}
