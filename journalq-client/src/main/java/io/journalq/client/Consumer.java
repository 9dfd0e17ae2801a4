package io.journalq.client;

import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.fetch.ConsumerConfig;
import io.journalq.client.fetch.Fetcher;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.group.TopicPattern;
import io.journalq.client.membership.GroupConfig;
import io.journalq.client.membership.Subscriber;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Reads records: of partitions that it is told to read, or of those that a group of consumers shares among its members.
 *
 * <pre>{@code
 * try (Consumer consumer = Consumer.builder().bootstrapServers("localhost:9092").groupId("billing").build()) {
 *     consumer.subscribe(List.of("orders"));
 *     while (true) {
 *         for (ConsumerRecord record : consumer.poll(Duration.ofSeconds(1))) {
 *             System.out.println(record.offset() + ": " + new String(record.value(), UTF_8));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>In a group each partition is read by one member. Members come and go, and partitions move one by one while the others
 * are read on (the consumer protocol, KIP-848). Where the group is in each partition is kept by the broker: what a member
 * got from a {@code poll} is committed by its later ones, or by {@link #commit()} with {@code autoCommit(false)}. Records
 * that were not committed when a member died are read again by another: each record is seen at least once.
 *
 * <p>One thread at a time uses a consumer, and it must poll at least every {@link Builder#maxPollIntervalMs}, else the
 * group goes on without it; heartbeats are sent meanwhile without its help. Only {@link #wakeup()} and {@link #metrics()}
 * are for any thread.
 *
 * <p>A partition whose position nobody set starts where the group committed, else as {@link Builder#startAt} says.
 */
public final class Consumer implements AutoCloseable {
    private final Fetcher fetcher;
    private final Subscriber subscriber;
    private ConsumerRecords last = new ConsumerRecords(List.of());

    private Consumer(ConsumerConfig config, GroupConfig groupConfig) {
        this.fetcher = new Fetcher(config);
        this.subscriber = new Subscriber(fetcher, groupConfig);
    }

    /** Starts a consumer with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Reads these partitions from now on, and no others. Those that were assigned before keep their position. With a
     * group, its commits are used, but nobody shares the partitions.
     *
     * @throws IllegalStateException when the consumer is subscribed
     */
    public void assign(Collection<TopicPartition> partitions) {
        subscriber.assign(partitions);
    }

    /** As {@link #subscribe(Collection, RebalanceListener)} without a listener. */
    public void subscribe(Collection<String> topics) {
        subscribe(topics, RebalanceListener.NONE);
    }

    /**
     * Joins the group, and reads the partitions of these topics that it assigns to this consumer; they come with later
     * polls. A topic that does not exist yet is read when it does. Replaces what was subscribed to before.
     *
     * @throws IllegalStateException without a group, or when partitions are assigned by hand
     */
    public void subscribe(Collection<String> topics, RebalanceListener listener) {
        subscriber.subscribe(topics, listener);
    }

    /** As {@link #subscribe(TopicPattern, RebalanceListener)} without a listener. */
    public void subscribe(TopicPattern pattern) {
        subscribe(pattern, RebalanceListener.NONE);
    }

    /** As {@link #subscribe(Collection, RebalanceListener)}, of all topics whose name matches, now or later. */
    public void subscribe(TopicPattern pattern, RebalanceListener listener) {
        subscriber.subscribe(pattern, listener);
    }

    /** Commits if that is automatic, leaves the group, and reads nothing any more. */
    public void unsubscribe() {
        subscriber.unsubscribe();
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

    /** Reads no more of assigned partitions until {@link #resume}, and keeps them and their positions. */
    public void pause(Collection<TopicPartition> partitions) {
        fetcher.pause(partitions);
    }

    /** Goes on with partitions that are paused. */
    public void resume(Collection<TopicPartition> partitions) {
        fetcher.resume(partitions);
    }

    /** The partitions that are paused. */
    public Set<TopicPartition> paused() {
        return fetcher.paused();
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
     * Reads every assigned partition from where the group committed, else from where {@link Builder#startAt} says: after a
     * transaction that did not commit, for one. Looked up by the next poll.
     */
    public void seekToCommitted() {
        fetcher.forgetPositions();
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
     * Waits for records. In a group this is also where partitions come and go, and the listener is called.
     *
     * @param timeout longest wait for records; zero returns what is there. A poll that has to look up where to start, or
     *     to give partitions back, may take up to {@code callTimeoutMs} longer
     * @return empty when none came in time; valid until the next call of this or {@link #close()}
     * @throws io.journalq.client.error.WakeupException when {@link #wakeup()} was called
     * @throws io.journalq.client.error.OffsetOutOfRangeException when a position is not there, and startAt is NOWHERE
     * @throws JournalQException when the group does not take this consumer; polling throws it again until the consumer
     *     subscribes anew
     */
    public ConsumerRecords poll(Duration timeout) {
        last.release();
        last = new ConsumerRecords(List.of());
        last = new ConsumerRecords(subscriber.poll(timeout.toNanos()));
        return last;
    }

    /**
     * Lets a {@link #poll} or {@link #commit} that waits, or else the next one, throw {@link
     * io.journalq.client.error.WakeupException}. Any thread.
     */
    public void wakeup() {
        fetcher.parking().wakeup();
    }

    /** Commits all that polls returned, and waits until it is safe. Tries again for up to {@code callTimeoutMs}. */
    public void commit() {
        subscriber.group().commit();
    }

    /**
     * Commits these offsets, each that of the next record to read, and waits until they are safe.
     *
     * @throws io.journalq.client.error.MembershipLostException when the group went on without this consumer
     */
    public void commit(Map<TopicPartition, CommittedOffset> offsets) {
        subscriber.group().commit(offsets);
    }

    /** As {@link #commit()}, without waiting. The future completes on a thread of the client; commits keep their order. */
    public CompletableFuture<Void> commitAsync() {
        return subscriber.group().commitAsync();
    }

    /** As {@link #commit(Map)}, without waiting. The future completes on a thread of the client. */
    public CompletableFuture<Void> commitAsync(Map<TopicPartition, CommittedOffset> offsets) {
        return subscriber.group().commitAsync(offsets);
    }

    /** What the group committed in each of these partitions, without those where it never did. */
    public Map<TopicPartition, CommittedOffset> committed(Collection<TopicPartition> partitions) {
        return subscriber.committed(partitions);
    }

    /** This consumer as its group knows it at the moment. */
    public GroupMember groupMember() {
        return subscriber.group().member();
    }

    /** Offset of the next record that a poll would return; asks the broker when the partition was not read yet. */
    public long position(TopicPartition partition) {
        return subscriber.position(partition);
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
        return fetcher.metrics(subscriber.failedCommits());
    }

    /**
     * Commits if that is automatic, leaves the group, and closes the connections; ends the validity of the last poll's
     * records. Waits for at most 30 seconds for a broker that does not answer.
     */
    @Override
    public void close() {
        last.release();
        last = new ConsumerRecords(List.of());
        subscriber.close();
    }

    private static Map<TopicPartition, Long> onlyOffsets(Map<TopicPartition, ListedOffset> listed) {
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        listed.forEach((partition, offset) -> offsets.put(partition, offset.offset()));
        return offsets;
    }

    /** Where reading starts when nobody said so, or when the position no longer exists. Immutable. */
    public static final class Start {
        /** At the first offset there is. */
        public static final Start BEGINNING = new Start(OffsetSpec.earliest(), null);
        /** With what comes next. */
        public static final Start END = new Start(OffsetSpec.latest(), null);
        /** Nowhere: poll throws. */
        public static final Start NOWHERE = new Start(null, null);

        private final OffsetSpec fixed;
        private final Duration age;

        private Start(OffsetSpec fixed, Duration age) {
            this.fixed = fixed;
            this.age = age;
        }

        /** At the first record that is not older than this, by its timestamp (KIP-1106). */
        public static Start notOlderThan(Duration age) {
            if (age.isNegative()) {
                throw new IllegalArgumentException("an age of " + age + "; use 0 or more");
            }
            return new Start(null, age);
        }

        /** What to look up at a time, in milliseconds since 1970 UTC; null when nothing is. */
        public OffsetSpec at(long nowMs) {
            return age == null ? fixed : OffsetSpec.atOrAfter(Math.max(0, nowMs - age.toMillis()));
        }
    }

    /** Which records of transactions are read. */
    public enum Isolation {
        /** All, also those of transactions that are open or were aborted. */
        READ_UNCOMMITTED,
        /** Those of committed transactions only, and nothing behind the first record of one that is open (KIP-98). */
        READ_COMMITTED
    }

    /** Settings of a consumer. Not thread-safe. */
    public static final class Builder extends ClientBuilder<Builder> {
        private static final int DEFAULT_FETCH_MAX_WAIT_MS = 500;
        private static final int DEFAULT_FETCH_MIN_BYTES = 1;
        private static final int DEFAULT_FETCH_MAX_BYTES = 16 * 1024 * 1024;
        private static final int DEFAULT_PARTITION_MAX_BYTES = 1024 * 1024;
        private static final int DEFAULT_MAX_POLL_INTERVAL_MS = 300_000;
        private static final int DEFAULT_AUTO_COMMIT_INTERVAL_MS = 5_000;

        private int fetchMaxWaitMs = DEFAULT_FETCH_MAX_WAIT_MS;
        private int fetchMinBytes = DEFAULT_FETCH_MIN_BYTES;
        private int fetchMaxBytes = DEFAULT_FETCH_MAX_BYTES;
        private int partitionMaxBytes = DEFAULT_PARTITION_MAX_BYTES;
        private boolean checkCrc = true;
        private Start start = Start.END;
        private Isolation isolation = Isolation.READ_UNCOMMITTED;
        private String groupId;
        private String groupInstanceId;
        private String groupAssignor;
        private int maxPollIntervalMs = DEFAULT_MAX_POLL_INTERVAL_MS;
        private boolean autoCommit = true;
        private int autoCommitIntervalMs = DEFAULT_AUTO_COMMIT_INTERVAL_MS;

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

        /** Which records of transactions are read. Default {@link Isolation#READ_UNCOMMITTED}. */
        public Builder isolation(Isolation isolation) {
            this.isolation = Objects.requireNonNull(isolation, "isolation is never null");
            return this;
        }

        /** The group whose members share the topics, and whose commits are used. Default none. */
        public Builder groupId(String id) {
            this.groupId = notEmpty("groupId", id);
            return this;
        }

        /**
         * A fixed name of this member: when it closes and comes back under that name within the broker's session time-out,
         * it gets its partitions back, and nobody else got them meanwhile (KIP-345). Default none.
         */
        public Builder groupInstanceId(String id) {
            this.groupInstanceId = notEmpty("groupInstanceId", id);
            return this;
        }

        /** How the broker shares partitions out: {@code uniform} or {@code range}. Default the broker's choice. */
        public Builder groupAssignor(String name) {
            this.groupAssignor = notEmpty("groupAssignor", name);
            return this;
        }

        /**
         * Longest time between two polls; after it the consumer leaves the group, and the next poll joins again. Also how
         * long the group waits for partitions to be given back. Default 300,000 ms.
         */
        public Builder maxPollIntervalMs(int intervalMs) {
            this.maxPollIntervalMs = positive("maxPollIntervalMs", intervalMs);
            return this;
        }

        /**
         * Whether what polls returned is committed by later polls, before partitions are given back, and by {@link
         * Consumer#close()}. Default true, with a group.
         */
        public Builder autoCommit(boolean commit) {
            this.autoCommit = commit;
            return this;
        }

        /** How often automatic commits are made, at most. Default 5,000 ms. */
        public Builder autoCommitIntervalMs(int intervalMs) {
            this.autoCommitIntervalMs = positive("autoCommitIntervalMs", intervalMs);
            return this;
        }

        /** Connects at the first call that needs it; this only starts the consumer. */
        public Consumer build() {
            if (groupId == null && (groupInstanceId != null || groupAssignor != null)) {
                throw new IllegalArgumentException("a member of a group needs a groupId");
            }
            GroupConfig group = groupId == null
                    ? null
                    : new GroupConfig(
                            groupId,
                            groupInstanceId,
                            groupAssignor,
                            maxPollIntervalMs,
                            autoCommit,
                            autoCommitIntervalMs);
            return new Consumer(
                    new ConsumerConfig(
                            clientConfig(),
                            fetchMaxWaitMs,
                            fetchMinBytes,
                            fetchMaxBytes,
                            partitionMaxBytes,
                            checkCrc,
                            start,
                            isolation),
                    group);
        }
    }
}
