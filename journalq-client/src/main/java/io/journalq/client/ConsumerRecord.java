package io.journalq.client;

import io.journalq.common.record.Header;
import java.util.List;

/**
 * A record that was read, copied out of the network buffer: it may be kept for as long as it is wanted. The arrays are
 * the record's own and not copied again.
 */
public final class ConsumerRecord {
    private final String topic;
    private final int partition;
    private final long offset;
    private final long timestampMs;
    private final byte[] key;
    private final byte[] value;
    private final List<Header> headers;

    ConsumerRecord(
            String topic,
            int partition,
            long offset,
            long timestampMs,
            byte[] key,
            byte[] value,
            List<Header> headers) {
        this.topic = topic;
        this.partition = partition;
        this.offset = offset;
        this.timestampMs = timestampMs;
        this.key = key;
        this.value = value;
        this.headers = headers;
    }

    public String topic() {
        return topic;
    }

    /** Zero-based. */
    public int partition() {
        return partition;
    }

    public long offset() {
        return offset;
    }

    /** Milliseconds since 1970 UTC; -1 when the producer gave none. */
    public long timestampMs() {
        return timestampMs;
    }

    /** Null when the record has no key. */
    public byte[] key() {
        return key;
    }

    /** Null for a tombstone. */
    public byte[] value() {
        return value;
    }

    /** In their order; empty when there are none. */
    public List<Header> headers() {
        return headers;
    }

    @Override
    public String toString() {
        return "ConsumerRecord[" + topic + "-" + partition + " offset " + offset + ", key "
                + (key == null ? "null" : key.length + " bytes") + ", value "
                + (value == null ? "null" : value.length + " bytes") + "]";
    }
}
