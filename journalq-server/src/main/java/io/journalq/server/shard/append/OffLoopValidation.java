package io.journalq.server.shard.append;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchRecompression;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.common.record.InvalidBatchException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The validation of a batch that would take too long on the loop: checks the batch and, if its topic uses another
 * compression, compresses it. {@link #accept} runs on a thread that may block; everything else runs on the partition's
 * loop, after it.
 */
final class OffLoopValidation implements Consumer<DecompressionRoom> {
    private static final Logger log = LoggerFactory.getLogger(OffLoopValidation.class);

    private final Append append;
    private final AppendSettings settings;
    private final long nowMs;
    private BatchValidation validation;
    private ByteBuf recompressed;
    private ErrorCode error = ErrorCode.NONE;
    private String errorMessage;

    /** @param nowMs when the batch arrived */
    OffLoopValidation(Append append, AppendSettings settings, long nowMs) {
        this.append = append;
        this.settings = settings;
        this.nowMs = nowMs;
    }

    @Override
    public void accept(DecompressionRoom room) {
        try {
            validation = new BatchValidator(room)
                    .validate(append.records(), append.produceVersion(), settings.rules(), nowMs);
            if (validation.isSound() && settings.recompresses(validation.codec())) {
                recompressed = recompress(append.records(), settings);
            }
        } catch (InvalidBatchException corrupt) {
            fail(ErrorCode.INVALID_RECORD, corrupt.getMessage());
        } catch (RuntimeException | OutOfMemoryError | LinkageError failure) {
            // Such as a codec that cannot be loaded. The batches that wait behind this one must go on.
            log.error("cannot validate a batch", failure);
            fail(ErrorCode.KAFKA_STORAGE_ERROR, "the broker cannot validate the batch");
        }
    }

    private void fail(ErrorCode itsError, String message) {
        error = itsError;
        errorMessage = message;
    }

    /** The batch in its topic's compression, to be released by the caller. */
    static ByteBuf recompress(ByteBuf records, AppendSettings settings) {
        return BatchRecompression.recompress(
                records,
                settings.compression(),
                settings.rules().maxDecompressedSizeBytes(),
                PooledByteBufAllocator.DEFAULT);
    }

    Append append() {
        return append;
    }

    AppendSettings settings() {
        return settings;
    }

    BatchValidation validation() {
        return validation;
    }

    /** Rejects the batch if it is invalid. */
    boolean refusesUnsound() {
        if (error != ErrorCode.NONE) {
            append.refuse(error, errorMessage);
            return true;
        }
        if (!validation.isSound()) {
            append.refuse(validation);
            return true;
        }
        return false;
    }

    /** The batch to store, to be released by the caller; null to store the batch as it was sent. */
    ByteBuf takeRecompressed() {
        ByteBuf taken = recompressed;
        recompressed = null;
        return taken;
    }

    /** Releases the outcome, which is not needed. */
    void drop() {
        if (recompressed != null) {
            recompressed.release();
            recompressed = null;
        }
    }
}
