package io.journalq.common.record;

import io.journalq.common.check.Check;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Encodes records into one batch (magic 2), straight into a pooled direct buffer behind room for the header. Without
 * compression that buffer is the batch; with it, the records are compressed behind the header of another one, and the
 * first is used again for the next batch.
 *
 * <p>Reusable: {@link #build} leaves it empty, with its codec, and without producer state. Belongs to one thread;
 * {@link #close} gives back its buffers.
 */
public final class BatchBuilder implements AutoCloseable {
    /** A record besides key, value and headers: its length, attributes, timestamp and offset deltas, three counts. */
    public static final int MAX_RECORD_OVERHEAD_BYTES = 5 * Varint.MAX_INT_SIZE_BYTES + 1 + Varint.MAX_LONG_SIZE_BYTES;

    /** A compressed batch is handed out in the buffer it was made in when it fills at least one part in so many. */
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

    /** A builder whose buffer starts small and grows. */
    public BatchBuilder(ByteBufAllocator allocator, CompressionCodec codec) {
        this(allocator, codec, DEFAULT_INITIAL_SIZE_BYTES);
    }

    /**
     * A builder.
     *
     * @param initialSizeBytes first size of its buffer: what a batch usually takes before compression
     */
    public BatchBuilder(ByteBufAllocator allocator, CompressionCodec codec, int initialSizeBytes) {
        this.allocator = allocator;
        this.codec = codec;
        this.initialSizeBytes = initialSizeBytes;
    }

    /**
     * Most bytes that a record can add to {@link #sizeBytes()}. Compare their sum with the batch limit to know whether
     * there is room; compression only makes it smaller.
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

    /** Size in bytes of the batch as it stands, uncompressed, header included. */
    public int sizeBytes() {
        return recordCount == 0 ? RecordBatch.HEADER_SIZE_BYTES : records.writerIndex();
    }

    /** Timestamp of the first record in milliseconds, {@link RecordBatch#NO_TIMESTAMP} while empty. */
    public long baseTimestampMs() {
        return recordCount == 0 ? RecordBatch.NO_TIMESTAMP : baseTimestampMs;
    }

    /** Largest timestamp in milliseconds, {@link RecordBatch#NO_TIMESTAMP} while empty. */
    public long maxTimestampMs() {
        return recordCount == 0 ? RecordBatch.NO_TIMESTAMP : maxTimestampMs;
    }

    /**
     * Makes the next batch built one of an idempotent or transactional producer (KIP-98).
     *
     * @param baseSequence sequence number of the first record, from 0
     */
    public void setProducerState(long producerId, short producerEpoch, int baseSequence, boolean transactional) {
        this.producerId = producerId;
        this.producerEpoch = producerEpoch;
        this.baseSequence = baseSequence;
        this.transactional = transactional;
    }

    /** Appends a record whose bytes are copied. Key and value may be null, headers may be empty. */
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

    /** Appends a record from the readable bytes of key and value, whose indexes stay. Either may be null. */
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
     * A batch of exactly one record, in a buffer of its own size. The builder must be empty.
     *
     * @param adaptive as for {@link #build(AdaptiveCompression)}
     */
    public ByteBuf buildSingle(
            long timestampMs, byte[] key, byte[] value, List<Header> headers, AdaptiveCompression adaptive) {
        Check.that(recordCount == 0, "a single record goes into an empty builder");
        if (codec == CompressionCodec.NONE && records == null) {
            int keyBytes = key == null ? 0 : key.length;
            int valueBytes = value == null ? 0 : value.length;
            records = allocator.directBuffer(
                    RecordBatch.HEADER_SIZE_BYTES + maxRecordSizeBytes(keyBytes, valueBytes, headers));
        }
        append(timestampMs, key, value, headers);
        return build(adaptive);
    }

    /** The batch, compressed when that saves enough. The caller releases it. At least one record must be in it. */
    public ByteBuf build() {
        return build(null);
    }

    /**
     * The batch, with base offset 0 and no leader epoch, complete with CRC, in one direct buffer that the caller
     * releases. Compressed with the builder's codec unless {@code adaptive} advises against trying, or the compressed
     * form is not {@value AdaptiveCompression#MIN_SAVING_PERCENT} percent smaller.
     *
     * @param adaptive what is known about this stream of records; null to try always
     */
    public ByteBuf build(AdaptiveCompression adaptive) {
        Check.that(recordCount > 0, "a batch holds at least one record");
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

    /** Forgets the records and the producer state; keeps the buffers. */
    public void reset() {
        recordCount = 0;
        if (records != null) {
            records.setIndex(0, 0);
        }
        setProducerState(RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE, false);
    }

    /** Gives back the buffers. The builder may be used again. */
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

    /** Writes the record up to its key and returns the index where that goes; all room is then there. */
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

    /** The records behind room for a header; null when the codec does not save enough. */
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
            // Text shrinks many times over: a batch in flight must not hold on to the room it was compressed in.
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
