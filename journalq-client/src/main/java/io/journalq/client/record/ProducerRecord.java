package io.journalq.client.record;

import static io.journalq.client.internal.check.Arguments.noNulls;
import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.error.SerializationException;
import io.journalq.client.serialization.Serializer;
import io.journalq.common.record.Header;
import java.util.ArrayList;
import java.util.List;

/**
 * A record to send. Immutable, except that key and value are not copied. Do not modify the arrays until the method that
 * sends the record has returned; the client does not read them later.
 */
public final class ProducerRecord {
    /**
     * Lets the producer choose the partition: by the hash of the key, or as {@code partitioning} says if there is no
     * key.
     */
    public static final int ANY_PARTITION = -1;

    /** Sets the timestamp to the time of the send. */
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
        this.topic = notNull(topic, "topic");
        this.partition = partition;
        this.timestampMs = SEND_TIME;
        this.key = key;
        this.value = value;
        this.headers = List.of();
    }

    /** Creates a record without a key, for any partition. {@code value} may be null. */
    public static ProducerRecord of(String topic, byte[] value) {
        return new ProducerRecord(topic, ANY_PARTITION, null, value);
    }

    /** Creates a record whose key determines the partition. {@code key} and {@code value} may be null. */
    public static ProducerRecord of(String topic, byte[] key, byte[] value) {
        return new ProducerRecord(topic, ANY_PARTITION, key, value);
    }

    /**
     * Creates a record for a given partition, or for {@link #ANY_PARTITION}. {@code key} and {@code value} may be null.
     */
    public static ProducerRecord of(String topic, int partition, byte[] key, byte[] value) {
        return new ProducerRecord(topic, checkPartition(partition), key, value);
    }

    /** Returns a builder for a record with headers, a timestamp or a partition. */
    public static Builder builder(String topic) {
        return new Builder(topic);
    }

    /** Returns a builder with all parts of this record, to create a changed copy. */
    public Builder toBuilder() {
        Builder builder = new Builder(topic);
        builder.partition = partition;
        builder.timestampMs = timestampMs;
        builder.key = key;
        builder.value = value;
        builder.headers = new ArrayList<>(headers);
        return builder;
    }

    public String topic() {
        return topic;
    }

    /** The partition, counted from 0, or {@link #ANY_PARTITION}. */
    public int partition() {
        return partition;
    }

    /** The timestamp in milliseconds since 1970 UTC, or {@link #SEND_TIME}. */
    public long timestampMs() {
        return timestampMs;
    }

    /** The key itself, not a copy, or null if there is none. */
    public byte[] key() {
        return key;
    }

    /** The value itself, not a copy, or null for a tombstone. */
    public byte[] value() {
        return value;
    }

    /** The headers in their order; empty if there are none. Names can occur more than once. */
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
            throw new IllegalArgumentException("the partition is " + partition + "; use 0 or more, or ANY_PARTITION");
        }
        return partition;
    }

    /** Builds a record. Not thread-safe. */
    public static final class Builder {
        private final String topic;
        private int partition = ANY_PARTITION;
        private long timestampMs = SEND_TIME;
        private byte[] key;
        private byte[] value;
        private List<Header> headers;

        private Builder(String topic) {
            this.topic = notNull(topic, "topic");
        }

        /** The partition, counted from 0. Default {@link #ANY_PARTITION}. */
        public Builder partition(int partition) {
            this.partition = checkPartition(partition);
            return this;
        }

        /** The timestamp in milliseconds since 1970 UTC. Default {@link #SEND_TIME}. */
        public Builder timestampMs(long timestampMs) {
            if (timestampMs < SEND_TIME) {
                throw new IllegalArgumentException(
                        "the timestamp is " + timestampMs + " ms; use 0 or more, or SEND_TIME");
            }
            this.timestampMs = timestampMs;
            return this;
        }

        /** The key, or null for none. Default null. */
        public Builder key(byte[] key) {
            this.key = key;
            return this;
        }

        /** The value, or null for a tombstone. Default null. */
        public Builder value(byte[] value) {
            this.value = value;
            return this;
        }

        /**
         * The key, serialized by this call, or null for none.
         *
         * @throws SerializationException if the serializer fails
         */
        public <T> Builder key(Serializer<? super T> serializer, T key) {
            return key(serialize("key", serializer, key));
        }

        /**
         * The value, serialized by this call, or null for a tombstone.
         *
         * @throws SerializationException if the serializer fails
         */
        public <T> Builder value(Serializer<? super T> serializer, T value) {
            return value(serialize("value", serializer, value));
        }

        private <T> byte[] serialize(String part, Serializer<? super T> serializer, T object) {
            notNull(serializer, "serializer");
            if (object == null) {
                return null;
            }
            try {
                return serializer.serialize(topic, object);
            } catch (RuntimeException e) {
                throw new SerializationException(
                        "the " + part + " of a record for " + topic + " cannot be serialized: " + e.getMessage(), e);
            }
        }

        /** Adds a header. {@code value} may be null. */
        public Builder header(String name, byte[] value) {
            if (headers == null) {
                headers = new ArrayList<>();
            }
            headers.add(new Header(notNull(name, "name"), value));
            return this;
        }

        /** Adds headers in their order. */
        public Builder headers(List<Header> more) {
            if (headers == null) {
                headers = new ArrayList<>();
            }
            headers.addAll(noNulls(more, "more"));
            return this;
        }

        public ProducerRecord build() {
            return new ProducerRecord(this);
        }
    }
}
