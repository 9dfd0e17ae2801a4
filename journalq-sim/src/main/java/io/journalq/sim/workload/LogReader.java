package io.journalq.sim.workload;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CorruptBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/** Reads what Fetch answers hold, as a client that checks every CRC. */
public final class LogReader {
    private static final int MAX_DECOMPRESSED_BYTES = 1 << 20;
    private static final int EVERYTHING = 1 << 20;
    /** Without sessions, by name. */
    static final int FETCH_VERSION = 12;

    private LogReader() {}

    /** What a record is to transactions. */
    public enum Kind {
        PLAIN,
        TRANSACTIONAL,
        COMMIT,
        ABORT
    }

    /**
     * One record.
     *
     * @param id its name; null when its value is not one that was sent
     * @param leaderEpoch of its batch
     * @param producerId of its batch; -1 for none
     */
    public record Found(long offset, String id, int leaderEpoch, long producerId, Kind kind) {
        /** Whether it ends a transaction, and is no record of a producer. */
        public boolean isMarker() {
            return kind == Kind.COMMIT || kind == Kind.ABORT;
        }

        public boolean commits() {
            return kind == Kind.COMMIT;
        }

        public boolean isTransactional() {
            return kind == Kind.TRANSACTIONAL;
        }
    }

    /**
     * What one answer holds of a partition.
     *
     * @param records from the asked offset on
     * @param markers ends of transactions among them
     * @param nextOffset where to read next
     * @param lastEpoch of what stands before that; -1 when nothing was read
     * @param corrupt why what follows cannot be read; null when it can
     * @param diverging where what the reader has read before is not what is there; its epoch is -1 when it is
     */
    public record Page(
            ErrorCode error,
            List<Found> records,
            List<Found> markers,
            long nextOffset,
            int lastEpoch,
            long highWatermark,
            long logStartOffset,
            String corrupt,
            FetchResponse.EpochEndOffset diverging) {}

    static FetchRequest request(
            PartitionHistory partition, long offset, int lastFetchedEpoch, int maxWaitMs, int maxBytes) {
        return new FetchRequest()
                .setMaxWaitMs(maxWaitMs)
                .setMinBytes(1)
                .setMaxBytes(EVERYTHING)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic(partition.topic())
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(partition.partition())
                                .setFetchOffset(offset)
                                .setLastFetchedEpoch(lastFetchedEpoch)
                                .setPartitionMaxBytes(maxBytes)))));
    }

    /** Reads the one partition that was asked for, and gives its buffers back. */
    static Page read(FetchResponse response, long offset) {
        FetchResponse.PartitionData data =
                response.responses().get(0).partitions().get(0);
        ErrorCode error = ErrorCode.of(data.errorCode());
        List<Found> records = new ArrayList<>();
        List<Found> markers = new ArrayList<>();
        long next = offset;
        int lastEpoch = -1;
        String corrupt = null;
        ByteBuf batches = data.records() == null ? null : data.records().buffer();
        if (batches != null && error == ErrorCode.NONE) {
            try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_DECOMPRESSED_BYTES, true)) {
                reader.reset(batches);
                while (reader.nextBatch()) {
                    int epoch = RecordBatch.leaderEpoch(batches, reader.batchIndex());
                    while (reader.next()) {
                        if (reader.offset() >= offset && reader.isControlBatch()) {
                            markers.add(
                                    new Found(reader.offset(), null, epoch, reader.producerId(), end(reader.key())));
                        } else if (reader.offset() >= offset) {
                            Kind kind = reader.isTransactional() ? Kind.TRANSACTIONAL : Kind.PLAIN;
                            records.add(
                                    new Found(reader.offset(), id(reader.value()), epoch, reader.producerId(), kind));
                        }
                    }
                    next = Math.max(next, reader.nextOffset());
                    lastEpoch = epoch;
                }
            } catch (CorruptBatchException damaged) {
                corrupt = damaged.getMessage();
            }
        }
        if (data.records() != null) {
            data.records().release();
        }
        return new Page(
                error,
                records,
                markers,
                next,
                lastEpoch,
                data.highWatermark(),
                data.logStartOffset(),
                corrupt,
                data.divergingEpoch());
    }

    /** A marker's key holds a version and then its type: 0 for abort, 1 for commit (KIP-98). */
    private static Kind end(ByteBuf key) {
        return key.getShort(key.readerIndex() + Short.BYTES) == 1 ? Kind.COMMIT : Kind.ABORT;
    }

    private static String id(ByteBuf value) {
        return value == null ? null : Sent.idOf(ByteBufUtil.getBytes(value));
    }
}
