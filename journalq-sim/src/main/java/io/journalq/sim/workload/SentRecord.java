package io.journalq.sim.workload;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** A record that a producer tried to append. */
public final class SentRecord {
    private static final String ID_HEADER = "id";

    private final String id;
    private final String producer;
    private final int number;
    private final Content content;
    /** Contains the id, followed by bytes derived from it, so that each changed byte is found. Null for a tombstone. */
    private final byte[] value;

    private SentTransaction transaction;
    private int batchSizeBytes;

    /**
     * Key, timestamp and kind of a record.
     *
     * @param key null for none
     * @param tombstone whether the record deletes its key
     */
    public record Content(String key, boolean tombstone, long timestampMs) {
        byte[] keyBytes() {
            return key == null ? null : key.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /**
     * A record that is about to be sent.
     *
     * @param id unique id
     * @param producer name of the producer, whose records have an order
     * @param number position in that order
     */
    SentRecord(String id, String producer, int number, Content content) {
        this.id = id;
        this.producer = producer;
        this.number = number;
        this.content = content;
        this.value = content.tombstone() ? null : value(id);
    }

    /** Encodes records as one batch, on the heap, so that a crash in between does not leak a buffer. */
    static ByteBuf encode(BatchBuilder builder, PartitionHistory partition, List<SentRecord> records) {
        for (SentRecord record : records) {
            builder.append(record.content.timestampMs(), record.content.keyBytes(), record.value, record.headers());
        }
        ByteBuf built = builder.build();
        ByteBuf copy = Unpooled.buffer(built.readableBytes()).writeBytes(built);
        built.release();
        partition.onBatch(records.get(0), copy.readableBytes());
        return copy;
    }

    public String id() {
        return id;
    }

    public String producer() {
        return producer;
    }

    public int number() {
        return number;
    }

    public Content content() {
        return content;
    }

    /** The transaction of the record; null for none. */
    public SentTransaction transaction() {
        return transaction;
    }

    void setTransaction(SentTransaction of) {
        transaction = of;
    }

    /** Size of the batch that begins with this record; 0 if none does. */
    public int batchSizeBytes() {
        return batchSizeBytes;
    }

    void setBatchSizeBytes(int sizeBytes) {
        batchSizeBytes = sizeBytes;
    }

    @Override
    public String toString() {
        return id + (transaction == null ? " " : " of " + transaction + " ") + content;
    }

    /** A tombstone has its id in a header. */
    private List<Header> headers() {
        return value != null ? List.of() : List.of(new Header(ID_HEADER, id.getBytes(StandardCharsets.US_ASCII)));
    }

    /** The id that a record seems to have; null if it has none. */
    static String claimedId(byte[] value, List<Header> headers) {
        if (value == null) {
            return headers.size() == 1 ? new String(headers.get(0).value(), StandardCharsets.US_ASCII) : null;
        }
        for (int i = 0; i < value.length; i++) {
            if (value[i] == '#') {
                return new String(value, 0, i, StandardCharsets.US_ASCII);
            }
        }
        return null;
    }

    /** Whether a record with this key, value and timestamp is this record. */
    boolean isHeldBy(byte[] itsKey, byte[] itsValue, long timestampMs) {
        return Arrays.equals(value, itsValue)
                && Arrays.equals(content.keyBytes(), itsKey)
                && timestampMs == content.timestampMs();
    }

    private static byte[] value(String id) {
        int hash = id.hashCode();
        int more = (hash >>> 4) % 120;
        boolean endsInZeros = hash % 3 == 0;
        byte[] name = id.getBytes(StandardCharsets.US_ASCII);
        byte[] value = Arrays.copyOf(name, name.length + 1 + more);
        value[name.length] = '#';
        for (int i = 0; i < more; i++) {
            hash = hash * 31 + i;
            boolean zero = endsInZeros && i >= more / 2;
            value[name.length + 1 + i] = (byte) (zero ? 0 : 'a' + ((hash >>> 8) & 15));
        }
        return value;
    }
}
