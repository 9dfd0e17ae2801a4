package io.journalq.common.record;

import io.journalq.common.check.Check;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Encodes records into a batch (magic 2). The records are written to a pooled direct buffer with room for the header.
 * Without compression, that buffer becomes the batch. Otherwise the records are compressed into another buffer, and the
 * first one is reused for the next batch.
 *
 * <p>Reusable: after {@link #build}, the builder is empty and has no producer state, but keeps its codec. Belongs to
 * one thread. {@link #close} releases its buffers.
 */
public final class BatchBuilder implements AutoCloseable {
    /**
     * The maximum size of a record without key, value and headers: length, attributes, timestamp delta, offset delta,
     * three counts.
     */
    public static final int MAX_RECORD_OVERHEAD_BYTES = 5 * Varint.MAX_INT_SIZE_BYTES + 1 + Varint.MAX_LONG_SIZE_BYTES;

    /** A compressed batch is returned in its scratch buffer if it fills at least one part of this number. */
    private static final int MAX_SLACK_RATIO = 2;

    private static final int DEFAULT_INITIAL_SIZE_BYTES = 16 * 1024;
    private static final int NULL_LENGTH = -1;

    private final ByteBufAllocator allocator;
    private final CompressionCodec codec;
    private final int initialSizeBytes;
    private ByteBuf records;
    private ByteBuf scratch;
    private int recordCount;
    private long baseTimestampMs;
    private long maxTimestampMs;
    private long producerId = RecordBatch.NO_PRODUCER_ID;
    private short producerEpoch = RecordBatch.NO_PRODUCER_EPOCH;
    private int baseSequence = RecordBatch.NO_SEQUENCE;
    private boolean transactional;

    /** Creates a builder whose buffer is small at first and grows. */
    public BatchBuilder(ByteBufAllocator allocator, CompressionCodec codec) {
        this(allocator, codec, DEFAULT_INITIAL_SIZE_BYTES);
    }

    /**
     * Creates a builder.
     *
     * @param initialSizeBytes the initial size of the buffer: the usual size of a batch before compression
     */
    public BatchBuilder(ByteBufAllocator allocator, CompressionCodec codec, int initialSizeBytes) {
        this.allocator = allocator;
        this.codec = codec;
        this.initialSizeBytes = initialSizeBytes;
    }

    /**
     * Returns the maximum number of bytes that a record adds to {@link #sizeBytes()}. To check whether a record fits,
     * add it to the current size. Compression only reduces the size.
     *
     * @param keySizeBytes 0 for a null key
     * @param valueSizeBytes 0 for a null value
     */
    public static int maxRecordSizeBytes(int keySizeBytes, int valueSizeBytes, List<Header> headers) {
        long total = (long) MAX_RECORD_OVERHEAD_BYTES + keySizeBytes + valueSizeBytes;
        for (int i = 0; i < headers.size(); i++) {
            Header header = headers.get(i);
            total += 2 * Varint.MAX_INT_SIZE_BYTES + ByteBufUtil.utf8MaxBytes(header.key());
            total += header.value() == null ? 0 : header.value().length;
        }
        if (total > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a record larger than 2 GiB");
        }
        return (int) total;
    }

    public int recordCount() {
        return recordCount;
    }

    /** The current size of the batch in bytes, uncompressed, including the header. */
    public int sizeBytes() {
        return recordCount == 0 ? RecordBatch.HEADER_SIZE_BYTES : records.writerIndex();
    }

    /** The largest timestamp in milliseconds, or {@link RecordBatch#NO_TIMESTAMP} if empty. */
    public long maxTimestampMs() {
        return recordCount == 0 ? RecordBatch.NO_TIMESTAMP : maxTimestampMs;
    }

    /**
     * Sets the state of an idempotent or transactional producer for the next batch (KIP-98).
     *
     * @param baseSequence the sequence number of the first record, at least 0
     */
    public void setProducerState(long producerId, short producerEpoch, int baseSequence, boolean transactional) {
        this.producerId = producerId;
        this.producerEpoch = producerEpoch;
        this.baseSequence = baseSequence;
        this.transactional = transactional;
    }

    /** Appends a record and copies its bytes. Key and value may be null, headers may be empty. */
    public void append(long timestampMs, byte[] key, byte[] value, List<Header> headers) {
        int keyBytes = key == null ? NULL_LENGTH : key.length;
        int valueBytes = value == null ? NULL_LENGTH : value.length;
        int at = begin(timestampMs, keyBytes, valueBytes, headers);
        at = Varint.set(records, at, keyBytes);
        if (keyBytes > 0) {
            records.setBytes(at, key);
            at += keyBytes;
        }
        at = Varint.set(records, at, valueBytes);
        if (valueBytes > 0) {
            records.setBytes(at, value);
            at += valueBytes;
        }
        end(at, timestampMs, headers);
    }

    /**
     * Appends a record from the readable bytes of key and value, without changing their indexes. Either may be null.
     */
    public void append(long timestampMs, ByteBuf key, ByteBuf value, List<Header> headers) {
        int keyBytes = key == null ? NULL_LENGTH : key.readableBytes();
        int valueBytes = value == null ? NULL_LENGTH : value.readableBytes();
        int at = begin(timestampMs, keyBytes, valueBytes, headers);
        at = Varint.set(records, at, keyBytes);
        if (keyBytes > 0) {
            records.setBytes(at, key, key.readerIndex(), keyBytes);
            at += keyBytes;
        }
        at = Varint.set(records, at, valueBytes);
        if (valueBytes > 0) {
            records.setBytes(at, value, value.readerIndex(), valueBytes);
            at += valueBytes;
        }
        end(at, timestampMs, headers);
    }

    /**
     * Builds a batch with exactly one record, in a buffer of its exact size. The builder must be empty.
     *
     * @param adaptive see {@link #build(AdaptiveCompression)}
     */
    public ByteBuf buildSingle(
            long timestampMs, byte[] key, byte[] value, List<Header> headers, AdaptiveCompression adaptive) {
        Check.that(recordCount == 0, "a single record requires an empty builder");
        if (codec == CompressionCodec.NONE && records == null) {
            int keyBytes = key == null ? 0 : key.length;
            int valueBytes = value == null ? 0 : value.length;
            records = allocator.directBuffer(
                    RecordBatch.HEADER_SIZE_BYTES + maxRecordSizeBytes(keyBytes, valueBytes, headers));
        }
        append(timestampMs, key, value, headers);
        return build(adaptive);
    }

    /**
     * Builds the batch, and compresses it if that saves enough. The builder must contain a record. The caller releases
     * the batch.
     */
    public ByteBuf build() {
        return build(null);
    }

    /**
     * Builds the batch in one direct buffer, with base offset 0, no leader epoch, and a valid CRC. The caller releases
     * it. Compresses the batch unless {@code adaptive} decides against it or the saving is less than {@value
     * AdaptiveCompression#MIN_SAVING_PERCENT} percent.
     *
     * @param adaptive the compression history of this stream of records, or null to always try
     */
    public ByteBuf build(AdaptiveCompression adaptive) {
        Check.that(recordCount > 0, "a batch must contain at least one record");
        ByteBuf batch = null;
        if (codec != CompressionCodec.NONE && (adaptive == null || adaptive.shouldTry())) {
            batch = compress(adaptive);
        }
        int compressionId = codec.id();
        if (batch == null) {
            batch = records;
            records = null;
            compressionId = CompressionCodec.NONE.id();
        }
        writeHeader(batch, compressionId);
        reset();
        return batch;
    }

    /** Discards the records and the producer state. Keeps the buffers. */
    public void reset() {
        recordCount = 0;
        if (records != null) {
            records.setIndex(0, 0);
        }
        setProducerState(RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE, false);
    }

    /** Releases the buffers. The builder can be used again. */
    @Override
    public void close() {
        reset();
        if (records != null) {
            records.release();
            records = null;
        }
        if (scratch != null) {
            scratch.release();
            scratch = null;
        }
    }

    /** Ensures room for the record, writes it up to its key, and returns the index for the key. */
    private int begin(long timestampMs, int keyBytes, int valueBytes, List<Header> headers) {
        int boundBytes = maxRecordSizeBytes(Math.max(0, keyBytes), Math.max(0, valueBytes), headers);
        if (records == null) {
            records = allocator.directBuffer(Math.max(initialSizeBytes, RecordBatch.HEADER_SIZE_BYTES + boundBytes));
        }
        if (recordCount == 0) {
            records.setIndex(0, RecordBatch.HEADER_SIZE_BYTES);
            baseTimestampMs = timestampMs;
            maxTimestampMs = timestampMs;
        }
        records.ensureWritable(boundBytes);
        long timestampDelta = timestampMs - baseTimestampMs;
        int bodyBytes = 1
                + Varint.sizeBytes(timestampDelta)
                + Varint.sizeBytes(recordCount)
                + Varint.sizeBytes(keyBytes)
                + Math.max(0, keyBytes)
                + Varint.sizeBytes(valueBytes)
                + Math.max(0, valueBytes)
                + headersSizeBytes(headers);
        int at = Varint.set(records, records.writerIndex(), bodyBytes);
        records.setByte(at++, 0);
        at = Varint.set(records, at, timestampDelta);
        return Varint.set(records, at, recordCount);
    }

    private void end(int headersIndex, long timestampMs, List<Header> headers) {
        int at = Varint.set(records, headersIndex, headers.size());
        for (int i = 0; i < headers.size(); i++) {
            Header header = headers.get(i);
            int keyBytes = ByteBufUtil.utf8Bytes(header.key());
            at = Varint.set(records, at, keyBytes);
            records.setCharSequence(at, header.key(), StandardCharsets.UTF_8);
            at += keyBytes;
            byte[] value = header.value();
            at = Varint.set(records, at, value == null ? NULL_LENGTH : value.length);
            if (value != null) {
                records.setBytes(at, value);
                at += value.length;
            }
        }
        records.writerIndex(at);
        recordCount++;
        maxTimestampMs = Math.max(maxTimestampMs, timestampMs);
    }

    private static int headersSizeBytes(List<Header> headers) {
        int count = headers.size();
        int total = Varint.sizeBytes(count);
        for (int i = 0; i < count; i++) {
            Header header = headers.get(i);
            int keyBytes = ByteBufUtil.utf8Bytes(header.key());
            int valueBytes = header.value() == null ? NULL_LENGTH : header.value().length;
            total += Varint.sizeBytes(keyBytes) + keyBytes + Varint.sizeBytes(valueBytes) + Math.max(0, valueBytes);
        }
        return total;
    }

    /** Returns the compressed records after room for a header, or null if compression does not save enough. */
    private ByteBuf compress(AdaptiveCompression adaptive) {
        if (scratch == null) {
            scratch = allocator.directBuffer(records.writerIndex());
        }
        records.readerIndex(RecordBatch.HEADER_SIZE_BYTES);
        scratch.setIndex(0, 0).writeZero(RecordBatch.HEADER_SIZE_BYTES);
        codec.compress(records, scratch);
        boolean worthwhile = AdaptiveCompression.isWorthwhile(records.writerIndex(), scratch.writerIndex());
        records.readerIndex(0);
        if (adaptive != null) {
            adaptive.onTried(worthwhile);
        }
        if (!worthwhile) {
            return null;
        }
        int sizeBytes = scratch.writerIndex();
        if (sizeBytes < scratch.capacity() / MAX_SLACK_RATIO) {
            // A batch in flight must not keep a scratch buffer that is much larger than the batch.
            return allocator.directBuffer(sizeBytes).writeBytes(scratch, 0, sizeBytes);
        }
        ByteBuf batch = scratch;
        scratch = null;
        return batch;
    }

    private void writeHeader(ByteBuf batch, int compressionId) {
        int sizeBytes = batch.writerIndex();
        batch.setLong(RecordBatch.BASE_OFFSET, 0L);
        batch.setInt(RecordBatch.LENGTH, sizeBytes - RecordBatch.LOG_OVERHEAD_BYTES);
        batch.setInt(RecordBatch.LEADER_EPOCH, RecordBatch.NO_LEADER_EPOCH);
        batch.setByte(RecordBatch.MAGIC, RecordBatch.CURRENT_MAGIC);
        batch.setShort(RecordBatch.ATTRIBUTES, compressionId | (transactional ? RecordBatch.TRANSACTIONAL_FLAG : 0));
        batch.setInt(RecordBatch.LAST_OFFSET_DELTA, recordCount - 1);
        batch.setLong(RecordBatch.BASE_TIMESTAMP, baseTimestampMs);
        batch.setLong(RecordBatch.MAX_TIMESTAMP, maxTimestampMs);
        batch.setLong(RecordBatch.PRODUCER_ID, producerId);
        batch.setShort(RecordBatch.PRODUCER_EPOCH, producerEpoch);
        batch.setInt(RecordBatch.BASE_SEQUENCE, baseSequence);
        batch.setInt(RecordBatch.RECORD_COUNT, recordCount);
        RecordBatch.setCrc(batch, 0, Crc32c.ofBatch(batch, 0, sizeBytes));
    }
}
