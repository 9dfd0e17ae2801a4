package io.journalq.client;

import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.fetch.ConsumerConfig;
import io.journalq.client.fetch.FetchedPartition;
import io.journalq.client.fetch.Fetcher;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Reads partitions that it is told to read, from where it is told to. For one thread at a time.
 *
 * <pre>{@code
 * try (Consumer consumer = Consumer.builder().bootstrapServers("localhost:9092").build()) {
 *     consumer.assign(consumer.partitionsOf("orders"));
 *     consumer.seekToBeginning(consumer.assignment());
 *     while (true) {
 *         for (ConsumerRecord record : consumer.poll(Duration.ofSeconds(1))) {
 *             System.out.println(record.offset() + ": " + new String(record.value(), UTF_8));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>A partition that was assigned and never sought starts as {@link Builder#startAt} says.
 */
public final class Consumer implements AutoCloseable {
    private final Fetcher fetcher;
    private ConsumerRecords last = new ConsumerRecords(List.of());

    private Consumer(ConsumerConfig config) {
        this.fetcher = new Fetcher(config);
    }

    /** Starts a consumer with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Reads these partitions from now on, and no others. Those that were assigned before keep their position. */
    public void assign(Collection<TopicPartition> partitions) {
        fetcher.assign(partitions);
    }

    /** What is read. */
    public Set<TopicPartition> assignment() {
        return fetcher.assignment();
    }

    /** The partitions of a topic, from the broker: what {@link #assign} takes to read all of it. */
    public Set<TopicPartition> partitionsOf(String topic) {
        return fetcher.partitionsOf(topic);
    }

    /** Reads an assigned partition from an offset on. */
    public void seek(TopicPartition partition, long offset) {
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset + " of " + partition + "; use 0 or more");
        }
        fetcher.seek(Map.of(partition, offset));
    }

    /** Reads assigned partitions from their first offset on; looked up by this call. */
    public void seekToBeginning(Collection<TopicPartition> partitions) {
        fetcher.seek(partitions, OffsetSpec.earliest());
    }

    /** Reads what is appended to assigned partitions from now on; looked up by this call. */
    public void seekToEnd(Collection<TopicPartition> partitions) {
        fetcher.seek(partitions, OffsetSpec.latest());
    }

    /**
     * Reads assigned partitions from the first record at or after a time; from the end where there is none. Looked up by
     * this call.
     *
     * @param timestampMs milliseconds since 1970 UTC
     */
    public void seekToTime(Collection<TopicPartition> partitions, long timestampMs) {
        fetcher.seek(partitions, OffsetSpec.atOrAfter(timestampMs));
    }

    /**
     * Waits for records.
     *
     * @param timeout longest wait; zero returns what is there
     * @return empty when none came in time; valid until the next call of this or {@link #close()}
     */
    public ConsumerRecords poll(Duration timeout) {
        last.release();
        List<FetchedPartition> fetched = fetcher.poll(timeout.toNanos());
        last = new ConsumerRecords(fetched);
        return last;
    }

    /** Offset of the next record that a poll would return; asks the broker when the partition was not read yet. */
    public long position(TopicPartition partition) {
        return fetcher.position(partition);
    }

    /** First offset of each partition; they need not be assigned. */
    public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
        return onlyOffsets(fetcher.offsets(partitions, OffsetSpec.earliest()));
    }

    /** The offset that the next record of each partition will have; they need not be assigned. */
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        return onlyOffsets(fetcher.offsets(partitions, OffsetSpec.latest()));
    }

    /**
     * First record at or after a time, in milliseconds since 1970 UTC, for each partition that has one; they need not be
     * assigned.
     */
    public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(Map<TopicPartition, Long> timestampsMs) {
        Map<TopicPartition, OffsetAndTimestamp> found = new LinkedHashMap<>();
        fetcher.offsets(timestampsMs).forEach((partition, offset) -> {
            if (offset.found()) {
                found.put(partition, new OffsetAndTimestamp(offset.offset(), offset.timestampMs()));
            }
        });
        return found;
    }

    /** What the consumer did so far. Any thread. */
    public ConsumerMetrics metrics() {
        return fetcher.metrics();
    }

    /** Closes the connections; ends the validity of the last poll's records. */
    @Override
    public void close() {
        last.release();
        last = new ConsumerRecords(List.of());
        fetcher.close();
    }

    private static Map<TopicPartition, Long> onlyOffsets(Map<TopicPartition, ListedOffset> listed) {
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        listed.forEach((partition, offset) -> offsets.put(partition, offset.offset()));
        return offsets;
    }

    /** Where reading starts when nobody said so, or when the position no longer exists. */
    public enum Start {
        /** At the first offset there is. */
        BEGINNING,
        /** With what comes next. */
        END,
        /** Nowhere: poll throws. */
        NOWHERE
    }

    /** Settings of a consumer. Not thread-safe. */
    public static final class Builder extends ClientBuilder<Builder> {
        private static final int DEFAULT_FETCH_MAX_WAIT_MS = 500;
        private static final int DEFAULT_FETCH_MIN_BYTES = 1;
        private static final int DEFAULT_FETCH_MAX_BYTES = 16 * 1024 * 1024;
        private static final int DEFAULT_PARTITION_MAX_BYTES = 1024 * 1024;

        private int fetchMaxWaitMs = DEFAULT_FETCH_MAX_WAIT_MS;
        private int fetchMinBytes = DEFAULT_FETCH_MIN_BYTES;
        private int fetchMaxBytes = DEFAULT_FETCH_MAX_BYTES;
        private int partitionMaxBytes = DEFAULT_PARTITION_MAX_BYTES;
        private boolean checkCrc = true;
        private Start start = Start.END;

        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /** How long a broker holds a Fetch that finds less than the minimum. Default 500 ms. */
        public Builder fetchMaxWaitMs(int waitMs) {
            this.fetchMaxWaitMs = notNegative("fetchMaxWaitMs", waitMs);
            return this;
        }

        /** Bytes for which a broker waits before it answers a Fetch. Default 1. */
        public Builder fetchMinBytes(int sizeBytes) {
            this.fetchMinBytes = notNegative("fetchMinBytes", sizeBytes);
            return this;
        }

        /** Most bytes in one Fetch answer, except that a first batch larger than this still comes. Default 16 MiB. */
        public Builder fetchMaxBytes(int sizeBytes) {
            this.fetchMaxBytes = positive("fetchMaxBytes", sizeBytes);
            return this;
        }

        /** Most bytes of one partition in one Fetch answer, with the same exception. Default 1 MiB. */
        public Builder partitionMaxBytes(int sizeBytes) {
            this.partitionMaxBytes = positive("partitionMaxBytes", sizeBytes);
            return this;
        }

        /** Whether every batch is checked against its CRC. Default true. */
        public Builder checkCrc(boolean check) {
            this.checkCrc = check;
            return this;
        }

        /** Where reading starts when nobody said so, or the position is out of range. Default {@link Start#END}. */
        public Builder startAt(Start start) {
            this.start = Objects.requireNonNull(start, "start is never null");
            return this;
        }

        /** Connects at the first call that needs it; this only starts the consumer. */
        public Consumer build() {
            return new Consumer(new ConsumerConfig(
                    clientConfig(), fetchMaxWaitMs, fetchMinBytes, fetchMaxBytes, partitionMaxBytes, checkCrc, start));
        }
    }
}
