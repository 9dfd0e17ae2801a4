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

    /**
     * One record.
     *
     * @param id its name; null when its value is not one that was sent
     * @param leaderEpoch of its batch
     */
    public record Found(long offset, String id, int leaderEpoch) {}

    /**
     * What one answer holds of a partition.
     *
     * @param records from the asked offset on
     * @param nextOffset where to read next
     * @param corrupt why what follows cannot be read; null when it can
     * @param diverging where what the reader has read before is not what is there; its epoch is -1 when it is
     */
    public record Page(
            ErrorCode error,
            List<Found> records,
            long nextOffset,
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
        long next = offset;
        String corrupt = null;
        ByteBuf batches = data.records() == null ? null : data.records().buffer();
        if (batches != null && error == ErrorCode.NONE) {
            try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_DECOMPRESSED_BYTES, true)) {
                reader.reset(batches);
                while (reader.nextBatch()) {
                    int epoch = RecordBatch.leaderEpoch(batches, reader.batchIndex());
                    while (!reader.isControlBatch() && reader.next()) {
                        if (reader.offset() >= offset) {
                            records.add(new Found(reader.offset(), id(reader.value()), epoch));
                        }
                    }
                    next = Math.max(next, reader.nextOffset());
                }
            } catch (CorruptBatchException damaged) {
                corrupt = damaged.getMessage();
            }
        }
        if (data.records() != null) {
            data.records().release();
        }
        return new Page(
                error, records, next, data.highWatermark(), data.logStartOffset(), corrupt, data.divergingEpoch());
    }

    private static String id(ByteBuf value) {
        return value == null ? null : Sent.idOf(ByteBufUtil.getBytes(value));
    }
}
