package io.journalq.server.shard;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchRecompression;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.CorruptBatchException;
import io.journalq.common.record.DecompressionRoom;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A batch that takes too long for a loop to look into: whether it is sound, and, where its topic keeps another compression,
 * its form in that. {@link #accept} on a thread that may block, everything else on the partition's loop, after it.
 */
final class LargeBatchCheck implements Consumer<DecompressionRoom> {
    private static final Logger log = LoggerFactory.getLogger(LargeBatchCheck.class);

    private final Append append;
    private final PartitionSettings settings;
    private final long nowMs;
    private BatchValidation validation;
    private ByteBuf recompressed;
    private ErrorCode error = ErrorCode.NONE;
    private String errorMessage;

    /** @param nowMs when the batch came */
    LargeBatchCheck(Append append, PartitionSettings settings, long nowMs) {
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
        } catch (CorruptBatchException corrupt) {
            fail(ErrorCode.INVALID_RECORD, corrupt.getMessage());
        } catch (RuntimeException | OutOfMemoryError failure) {
            // The one that waits behind this batch must not pay for it.
            log.error("cannot check a batch", failure);
            fail(ErrorCode.KAFKA_STORAGE_ERROR, "the broker cannot check the batch");
        }
    }

    private void fail(ErrorCode itsError, String message) {
        error = itsError;
        errorMessage = message;
    }

    /** The batch in its topic's compression, the caller's to release. */
    static ByteBuf recompress(ByteBuf records, PartitionSettings settings) {
        return BatchRecompression.recompress(
                records,
                settings.compression(),
                settings.rules().maxDecompressedSizeBytes(),
                PooledByteBufAllocator.DEFAULT);
    }

    Append append() {
        return append;
    }

    PartitionSettings settings() {
        return settings;
    }

    BatchValidation validation() {
        return validation;
    }

    /** Refuses the batch if there is something wrong with it. */
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

    /** The form in which the batch is to be kept, the caller's to release; null for that in which it came. */
    ByteBuf takeRecompressed() {
        ByteBuf taken = recompressed;
        recompressed = null;
        return taken;
    }

    /** Nobody will ask for the outcome. */
    void drop() {
        if (recompressed != null) {
            recompressed.release();
            recompressed = null;
        }
    }
}
