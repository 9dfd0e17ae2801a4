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
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads what one Fetch answer holds, as a client that checks every CRC. */
public final class LogReader {
    private static final int MAX_DECOMPRESSED_BYTES = 1 << 20;
    private static final int EVERYTHING = 1 << 20;
    /** Without sessions, by name. */
    static final int FETCH_VERSION = 12;

    private final Ask ask;
    private final Aborted aborted;
    private final List<Found> records = new ArrayList<>();
    private final List<Found> markers = new ArrayList<>();
    private long next;
    private int lastEpoch = -1;
    private String corrupt;

    private LogReader(Ask ask, FetchResponse.PartitionData data) {
        this.ask = ask;
        this.next = ask.offset();
        this.aborted = new Aborted(ask.readCommitted() ? data.abortedTransactions() : null);
    }

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
     * @param record null for a marker, and when nobody sent what it holds
     * @param leaderEpoch of its batch
     * @param producerId of its batch; -1 for none
     */
    public record Found(long offset, SentRecord record, int leaderEpoch, long producerId, Kind kind) {
        @Override
        public String toString() {
            return id() + " at " + offset + " of epoch " + leaderEpoch + " and producer " + producerId + " (" + kind
                    + ")";
        }

        /** Null for a marker, and when nobody sent what it holds. */
        public String id() {
            return record == null ? null : record.id();
        }

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
            Bounds bounds,
            String corrupt,
            FetchResponse.EpochEndOffset diverging) {}

    /** Where a partition begins, is stable up to, and ends; -1 when it was not said. */
    public record Bounds(long logStartOffset, long lastStableOffset, long highWatermark) {}

    /**
     * What is asked for.
     *
     * @param lastFetchedEpoch of the record before {@code offset}; -1 when it is not known
     * @param readCommitted whether records are wanted only when their transactions are committed
     */
    record Ask(
            PartitionHistory partition,
            long offset,
            int lastFetchedEpoch,
            int maxWaitMs,
            int maxBytes,
            boolean readCommitted) {
        FetchRequest request() {
            return new FetchRequest()
                    .setMaxWaitMs(maxWaitMs)
                    .setMinBytes(1)
                    .setMaxBytes(EVERYTHING)
                    .setIsolationLevel((byte) (readCommitted ? 1 : 0))
                    .setSessionEpoch(-1)
                    .setTopics(List.of(new FetchRequest.FetchTopic()
                            .setTopic(partition.topic())
                            .setPartitions(List.of(new FetchRequest.FetchPartition()
                                    .setPartition(partition.partition())
                                    .setFetchOffset(offset)
                                    .setLastFetchedEpoch(lastFetchedEpoch)
                                    .setPartitionMaxBytes(maxBytes)))));
        }
    }

    /** Reads the one partition that was asked for, and gives its buffers back. */
    static Page read(Ask ask, FetchResponse response) {
        FetchResponse.PartitionData data =
                response.responses().get(0).partitions().get(0);
        LogReader reader = new LogReader(ask, data);
        ByteBuf batches = data.records() == null ? null : data.records().buffer();
        if (batches != null && data.errorCode() == 0) {
            reader.read(batches);
        }
        if (data.records() != null) {
            data.records().release();
        }
        return new Page(
                ErrorCode.of(data.errorCode()),
                reader.records,
                reader.markers,
                reader.next,
                reader.lastEpoch,
                new Bounds(data.logStartOffset(), data.lastStableOffset(), data.highWatermark()),
                reader.corrupt,
                data.divergingEpoch());
    }

    private void read(ByteBuf batches) {
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_DECOMPRESSED_BYTES, true)) {
            reader.reset(batches);
            while (reader.nextBatch()) {
                int epoch = RecordBatch.leaderEpoch(batches, reader.batchIndex());
                aborted.onBatch(reader.nextOffset());
                while (reader.next()) {
                    take(reader, epoch);
                }
                next = Math.max(next, reader.nextOffset());
                lastEpoch = epoch;
            }
        } catch (CorruptBatchException damaged) {
            corrupt = damaged.getMessage();
        }
    }

    private void take(BatchReader reader, int epoch) {
        boolean wanted = reader.offset() >= ask.offset();
        if (reader.isControlBatch()) {
            Kind end = end(reader.key());
            aborted.onMarker(reader.producerId(), end);
            if (wanted) {
                markers.add(new Found(reader.offset(), null, epoch, reader.producerId(), end));
            }
            return;
        }
        boolean transactional = reader.isTransactional();
        if (wanted && !(transactional && aborted.contains(reader.producerId()))) {
            Kind kind = transactional ? Kind.TRANSACTIONAL : Kind.PLAIN;
            records.add(new Found(reader.offset(), record(reader), epoch, reader.producerId(), kind));
        }
    }

    /** A marker's key holds a version and then its type: 0 for abort, 1 for commit (KIP-98). */
    private static Kind end(ByteBuf key) {
        return key.getShort(key.readerIndex() + Short.BYTES) == 1 ? Kind.COMMIT : Kind.ABORT;
    }

    /** Null when nobody sent it. */
    private SentRecord record(BatchReader reader) {
        byte[] value = bytes(reader.value());
        String id = SentRecord.claimedId(value, reader.headers());
        SentRecord record = id == null ? null : ask.partition().find(id);
        return record != null && record.isHeldBy(bytes(reader.key()), value, reader.timestampMs()) ? record : null;
    }

    private static byte[] bytes(ByteBuf buffer) {
        return buffer == null ? null : ByteBufUtil.getBytes(buffer);
    }

    /** What readers of committed records leave out, as they are told with the answer (KIP-98). */
    private static final class Aborted {
        private final List<FetchResponse.AbortedTransaction> coming = new ArrayList<>();
        private final Set<Long> producers = new HashSet<>();

        Aborted(List<FetchResponse.AbortedTransaction> told) {
            if (told != null) {
                coming.addAll(told);
            }
        }

        void onBatch(long nextOffset) {
            coming.removeIf(one -> {
                boolean begins = one.firstOffset() < nextOffset;
                if (begins) {
                    producers.add(one.producerId());
                }
                return begins;
            });
        }

        void onMarker(long producerId, Kind end) {
            if (end == Kind.ABORT) {
                producers.remove(producerId);
            }
        }

        boolean contains(long producerId) {
            return producers.contains(producerId);
        }
    }
}
