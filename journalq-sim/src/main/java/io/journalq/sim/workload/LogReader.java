package io.journalq.sim.workload;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.Header;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads the records of one Fetch response, like a client that checks every CRC. */
public final class LogReader {
    private static final int MAX_DECOMPRESSED_BYTES = 1 << 20;
    private static final int EVERYTHING = 1 << 20;
    /** A version without fetch sessions and with topic names. */
    public static final int FETCH_VERSION = 12;

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

    /** The role of a record in transactions. */
    public enum Kind {
        PLAIN,
        TRANSACTIONAL,
        COMMIT,
        ABORT
    }

    /**
     * One record.
     *
     * @param id id of the record; null for a marker, and for a record that no producer sent
     * @param leaderEpoch leader epoch of its batch
     * @param producerId producer id of its batch; -1 for none
     */
    public record Found(long offset, String id, int leaderEpoch, long producerId, Kind kind) {
        @Override
        public String toString() {
            return id + " at " + offset + " of epoch " + leaderEpoch + " and producer " + producerId + " (" + kind
                    + ")";
        }

        /** Whether this is a transaction marker. */
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
     * The content of one response for a partition.
     *
     * @param records records from the requested offset on
     * @param markers transaction markers among them
     * @param nextOffset offset at which to continue
     * @param lastEpoch leader epoch of the last batch; -1 if nothing was read
     * @param corrupt why the rest cannot be read; null if it can
     * @param diverging where the log diverges from what the reader has read; its epoch is -1 if it does not
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

    /** Log start offset, last stable offset and high watermark; -1 for those that the response does not have. */
    public record Bounds(long logStartOffset, long lastStableOffset, long highWatermark) {}

    /**
     * What was read of a partition.
     *
     * @param partition its name
     * @param bounds those of the last response
     */
    public record Reading(String partition, List<Found> records, List<Found> markers, Bounds bounds) {
        /** Records and markers in the order of the log, without those before its start. */
        public List<Found> all() {
            List<Found> all = new ArrayList<>(records);
            all.addAll(markers);
            all.removeIf(found -> found.offset() < bounds.logStartOffset());
            all.sort(Comparator.comparingLong(Found::offset));
            return all;
        }
    }

    /** A partition, and how its records are told apart. */
    public interface Source {
        String topic();

        int partition();

        /** The id of a record with this content; null if no producer sent it. */
        String idOf(byte[] key, byte[] value, List<Header> headers, long timestampMs);
    }

    /**
     * A request.
     *
     * @param lastFetchedEpoch leader epoch of the record before {@code offset}; -1 if it is not known
     * @param readCommitted whether to read only committed records
     */
    public record Ask(
            Source source, long offset, int lastFetchedEpoch, int maxWaitMs, int maxBytes, boolean readCommitted) {
        public FetchRequest request() {
            return new FetchRequest()
                    .setMaxWaitMs(maxWaitMs)
                    .setMinBytes(1)
                    .setMaxBytes(EVERYTHING)
                    .setIsolationLevel((byte) (readCommitted ? 1 : 0))
                    .setSessionEpoch(-1)
                    .setTopics(List.of(new FetchRequest.FetchTopic()
                            .setTopic(source.topic())
                            .setPartitions(List.of(new FetchRequest.FetchPartition()
                                    .setPartition(source.partition())
                                    .setFetchOffset(offset)
                                    .setLastFetchedEpoch(lastFetchedEpoch)
                                    .setPartitionMaxBytes(maxBytes)))));
        }
    }

    /** Reads the partition of the request, and releases the buffers of the response. */
    public static Page read(Ask ask, FetchResponse response) {
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
        } catch (InvalidBatchException damaged) {
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
            records.add(new Found(reader.offset(), idOf(reader), epoch, reader.producerId(), kind));
        }
    }

    /** The key of a marker holds a version, followed by the type: 0 for abort, 1 for commit (KIP-98). */
    private static Kind end(ByteBuf key) {
        return key.getShort(key.readerIndex() + Short.BYTES) == 1 ? Kind.COMMIT : Kind.ABORT;
    }

    private String idOf(BatchReader reader) {
        return ask.source().idOf(bytes(reader.key()), bytes(reader.value()), reader.headers(), reader.timestampMs());
    }

    private static byte[] bytes(ByteBuf buffer) {
        return buffer == null ? null : ByteBufUtil.getBytes(buffer);
    }

    /** The aborted transactions that the response lists, which readers of committed records skip (KIP-98). */
    private static final class Aborted {
        private final List<FetchResponse.AbortedTransaction> coming = new ArrayList<>();
        private final Set<Long> producers = new HashSet<>();

        Aborted(List<FetchResponse.AbortedTransaction> listed) {
            if (listed != null) {
                coming.addAll(listed);
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
