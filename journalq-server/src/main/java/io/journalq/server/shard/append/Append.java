package io.journalq.server.shard.append;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidation.RecordError;
import io.journalq.server.loop.Limit;
import io.journalq.server.producerstate.VerificationGuards;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One batch that is being appended to one partition, and its outcome. The sender fills it in and passes it to the
 * partition, whose loop decides about it. One thread at a time.
 */
public abstract class Append {
    /** For a sender that waits for the replicas until the partition leaves its shard. */
    protected static final int NO_TIMEOUT_MS = Integer.MAX_VALUE;

    private static final long NONE = -1L;

    private final ByteBuf records;
    private final int produceVersion;
    private final long verificationGuard;
    private final RequiredAcks acks;
    private final int timeoutMs;
    private long deadlineNanos;
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
     * Prepares an append of the broker itself, which waits for all in-sync replicas.
     *
     * @param records the records for the partition; null if there are none. They must stay readable until the append is
     *     decided
     * @param produceVersion version of the Produce request that could contain them
     */
    protected Append(ByteBuf records, int produceVersion) {
        this(records, produceVersion, VerificationGuards.NOT_VERIFIED, RequiredAcks.ALL, NO_TIMEOUT_MS);
    }

    /**
     * Prepares an append of a producer, which may belong to a transaction.
     *
     * @param records the producer's records for the partition; null if it sent none. They must stay readable until the
     *     append is decided
     * @param produceVersion version of the Produce request
     * @param verificationGuard taken before the transaction's coordinator confirmed that the partition is part of it;
     *     {@link VerificationGuards#NOT_VERIFIED} if it did not. In this case, or if the transaction has ended since
     *     then, no transactional batch is appended (KIP-890)
     * @param acks the replicas that must have the batch
     * @param timeoutMs how long a batch that is safe here waits for other replicas, in milliseconds
     */
    protected Append(ByteBuf records, int produceVersion, long verificationGuard, RequiredAcks acks, int timeoutMs) {
        this.records = records;
        this.produceVersion = produceVersion;
        this.verificationGuard = verificationGuard;
        this.acks = acks;
        this.timeoutMs = timeoutMs;
    }

    /**
     * Called once, on the loop of the partition's shard, when the batch is rejected or as safe as its topic demands.
     */
    protected abstract void onDecided();

    /**
     * Whether the sender waits for the outcome. Otherwise a batch that takes long to validate is rejected. Any thread.
     */
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
        return verificationGuard != VerificationGuards.NOT_VERIFIED;
    }

    final long verificationGuard() {
        return verificationGuard;
    }

    final RequiredAcks acks() {
        return acks;
    }

    /** Sets the deadline of an append that begins to wait for other replicas. */
    final void beginWait(long nowNanos) {
        deadlineNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(Math.max(0, timeoutMs));
    }

    /** When the wait for other replicas ends, in the time of the partition's loop. */
    final long deadlineNanos() {
        return deadlineNanos;
    }

    /**
     * {@link ErrorCode#NONE} if the batch was appended, or is a duplicate of one that was; {@link
     * ErrorCode#DUPLICATE_SEQUENCE_NUMBER} if it is a duplicate whose offset is not known any more.
     */
    public final ErrorCode error() {
        return error;
    }

    /** A description of the error; null for the default of the code. */
    public final String errorMessage() {
        return errorMessage;
    }

    /** The limit that the batch exceeded; null if it was not rejected because of a limit. */
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

    /** The invalid records of the batch; empty if it was not rejected because of single records. */
    public final List<RecordError> recordErrors() {
        return recordErrors;
    }

    /** Offset of the batch's first record; -1 if it was not appended. */
    public final long baseOffset() {
        return baseOffset;
    }

    /** When the broker appended the batch, in milliseconds since 1970 UTC; -1 unless the topic uses append times. */
    public final long appendTimeMs() {
        return appendTimeMs;
    }

    /** The partition's first offset; -1 if the batch was not appended. */
    public final long logStartOffset() {
        return logStartOffset;
    }

    /**
     * Offset behind the batch. Everything before it must be written, or durable, before the producer gets a response.
     */
    final long nextOffset() {
        return nextOffset;
    }

    /** Sets the size of the stored batch, which may differ from the size that was sent. */
    final void keep(int sizeBytes) {
        keptSizeBytes = sizeBytes;
    }

    /** Number of bytes that the batch adds to the partition; 0 for a duplicate. */
    final int keptSizeBytes() {
        return keptSizeBytes;
    }

    /** Sets the offset of the batch: the new one or, for a duplicate, the one of the first append. */
    final void place(long itsBaseOffset, long itsNextOffset, long itsAppendTimeMs) {
        baseOffset = itsBaseOffset;
        nextOffset = itsNextOffset;
        appendTimeMs = itsAppendTimeMs;
    }

    /**
     * The batch is a duplicate whose offset is not known any more.
     *
     * @param itsNextOffset an offset behind the first append
     */
    final void placeOldDuplicate(long itsNextOffset) {
        error = ErrorCode.DUPLICATE_SEQUENCE_NUMBER;
        nextOffset = itsNextOffset;
    }

    /** Whether the batch is in the journal, perhaps since an earlier append. */
    public final boolean isStored() {
        return error == ErrorCode.NONE || error == ErrorCode.DUPLICATE_SEQUENCE_NUMBER;
    }

    /** Completes the append, because the batch is safe. */
    final void complete(long startOffset) {
        logStartOffset = startOffset;
        onDecided();
    }

    /** Rejects the batch because its records are invalid. */
    final void refuse(BatchValidation unsound) {
        recordErrors = unsound.recordErrors();
        limit = limit(unsound.exceeded());
        refuse(unsound.error(), unsound.message());
    }

    /** Rejects the batch because of a limit that does not concern its records alone. */
    final void refuse(Limit reached, ErrorCode refusal, String message) {
        limit = reached;
        refuse(refusal, message);
    }

    /** Rejects the batch. The sender also calls this if the partition does not exist. */
    public final void refuse(ErrorCode refusal, String message) {
        error = refusal;
        errorMessage = message;
        baseOffset = NONE;
        appendTimeMs = NONE;
        onDecided();
    }
}
