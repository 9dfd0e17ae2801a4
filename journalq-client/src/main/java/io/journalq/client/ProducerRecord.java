package io.journalq.client;

import io.journalq.common.record.Header;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A record to send. Immutable, except that the arrays are not copied: leave them alone until the send is done. The
 * client reads them only during the call that sends.
 */
public final class ProducerRecord {
    /** Lets the producer choose: by the key's hash, or spread over the partitions when there is no key. */
    public static final int ANY_PARTITION = -1;

    /** Lets the producer use the time of the send. */
    public static final long SEND_TIME = -1L;

    private final String topic;
    private final int partition;
    private final long timestampMs;
    private final byte[] key;
    private final byte[] value;
    private final List<Header> headers;

    private ProducerRecord(Builder builder) {
        this.topic = builder.topic;
        this.partition = builder.partition;
        this.timestampMs = builder.timestampMs;
        this.key = builder.key;
        this.value = builder.value;
        this.headers = builder.headers == null ? List.of() : List.copyOf(builder.headers);
    }

    private ProducerRecord(String topic, int partition, byte[] key, byte[] value) {
        this.topic = Objects.requireNonNull(topic, "a record needs a topic");
        this.partition = partition;
        this.timestampMs = SEND_TIME;
        this.key = key;
        this.value = value;
        this.headers = List.of();
    }

    /** A record without a key, on any partition. {@code value} may be null. */
    public static ProducerRecord of(String topic, byte[] value) {
        return new ProducerRecord(topic, ANY_PARTITION, null, value);
    }

    /** A record whose partition follows from its key. {@code key} and {@code value} may be null. */
    public static ProducerRecord of(String topic, byte[] key, byte[] value) {
        return new ProducerRecord(topic, ANY_PARTITION, key, value);
    }

    /** A record for a certain partition, or {@link #ANY_PARTITION}. {@code key} and {@code value} may be null. */
    public static ProducerRecord of(String topic, int partition, byte[] key, byte[] value) {
        return new ProducerRecord(topic, checkPartition(partition), key, value);
    }

    /** Starts a record with headers, a timestamp or a partition. */
    public static Builder builder(String topic) {
        return new Builder(topic);
    }

    public String topic() {
        return topic;
    }

    /** Zero-based, or {@link #ANY_PARTITION}. */
    public int partition() {
        return partition;
    }

    /** Milliseconds since 1970 UTC, or {@link #SEND_TIME}. */
    public long timestampMs() {
        return timestampMs;
    }

    /** The array itself, not a copy; null when there is no key. */
    public byte[] key() {
        return key;
    }

    /** The array itself, not a copy; null for a tombstone. */
    public byte[] value() {
        return value;
    }

    /** In the order given, names may repeat; empty when there are none. */
    public List<Header> headers() {
        return headers;
    }

    @Override
    public String toString() {
        return "ProducerRecord[" + topic + "-" + (partition == ANY_PARTITION ? "any" : partition) + ", key "
                + length(key) + ", value " + length(value) + ", " + headers.size() + " headers]";
    }

    private static String length(byte[] bytes) {
        return bytes == null ? "null" : bytes.length + " bytes";
    }

    private static int checkPartition(int partition) {
        if (partition < ANY_PARTITION) {
            throw new IllegalArgumentException("partition " + partition + "; use 0 or more, or ANY_PARTITION");
        }
        return partition;
    }

    /** Collects a record's parts. Not thread-safe. */
    public static final class Builder {
        private final String topic;
        private int partition = ANY_PARTITION;
        private long timestampMs = SEND_TIME;
        private byte[] key;
        private byte[] value;
        private List<Header> headers;

        private Builder(String topic) {
            this.topic = Objects.requireNonNull(topic, "a record needs a topic");
        }

        /** Zero-based, or {@link #ANY_PARTITION} (the default). */
        public Builder partition(int partition) {
            this.partition = checkPartition(partition);
            return this;
        }

        /** Milliseconds since 1970 UTC; by default the time of the send. */
        public Builder timestampMs(long timestampMs) {
            if (timestampMs < SEND_TIME) {
                throw new IllegalArgumentException("timestamp " + timestampMs + " ms; use 0 or more, or SEND_TIME");
            }
            this.timestampMs = timestampMs;
            return this;
        }

        /** Null (the default) for none. */
        public Builder key(byte[] key) {
            this.key = key;
            return this;
        }

        /** Null (the default) for a tombstone. */
        public Builder value(byte[] value) {
            this.value = value;
            return this;
        }

        /** Adds one header; {@code value} may be null. */
        public Builder header(String name, byte[] value) {
            if (headers == null) {
                headers = new ArrayList<>();
            }
            headers.add(new Header(name, value));
            return this;
        }

        /** Adds headers in their order. */
        public Builder headers(List<Header> more) {
            if (headers == null) {
                headers = new ArrayList<>();
            }
            headers.addAll(more);
            return this;
        }

        public ProducerRecord build() {
            return new ProducerRecord(this);
        }
    }
}
