package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.nanos;
import static io.journalq.client.internal.check.Arguments.noNulls;
import static io.journalq.client.internal.check.Arguments.notNegative;
import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.error.JournalQException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.group.TopicPattern;
import io.journalq.client.internal.fetch.ConsumerConfig;
import io.journalq.client.internal.fetch.Fetcher;
import io.journalq.client.internal.membership.GroupConfig;
import io.journalq.client.internal.membership.Subscriber;
import io.journalq.client.internal.network.FailureLog;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

/**
 * Reads records from partitions that you assign, or from partitions that a consumer group assigns to this member.
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
 * <p><b>Groups.</b> Each partition is read by one member of the group. When members join or leave, only the affected
 * partitions move, and the others are read without a pause (KIP-848). The broker stores the committed offsets of the
 * group. By default, later polls commit the records that earlier polls returned; with {@code autoCommit(false)} the
 * application calls {@link #commit()}. If a member dies, another member reads its uncommitted records again, so every
 * record is delivered at least once.
 *
 * <p><b>Threads.</b> Only one thread at a time may use a consumer; a call by a second thread throws {@link
 * IllegalStateException}. Any thread may call {@link #wakeup()}, {@link #metrics()} and {@link #close()}. Call {@code
 * poll} at least every {@link Builder#maxPollInterval}, otherwise the consumer leaves its group. The client sends
 * heartbeats in the background.
 *
 * <p><b>Errors.</b> After {@link #close()}, every method throws {@link
 * io.journalq.client.error.ClientClosedException}. If an argument is null, a method throws {@link NullPointerException}.
 *
 * <p><b>Positions.</b> A partition without a position starts at the committed offset of the group, or else as set by
 * {@link Builder#startAt}.
 */
public final class Consumer implements AutoCloseable {
    private final Fetcher fetcher;
    private final Subscriber subscriber;
    private final ConsumerAccess access = new ConsumerAccess();
    private final ConsumerInterceptors interceptors;
    private ConsumerRecords last = new ConsumerRecords(List.of());

    private Consumer(ConsumerConfig config, GroupConfig groupConfig, ConsumerInterceptors interceptors) {
        this.interceptors = interceptors;
        this.fetcher = new Fetcher(config);
        this.subscriber = new Subscriber(fetcher, groupConfig);
    }

    /** Returns a builder with the default settings. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Assigns these partitions to the consumer, instead of all previous ones. Partitions that were assigned before keep
     * their positions. With a group id, the consumer uses the committed offsets of the group, but does not share the
     * partitions. If automatic commits are on, a commit of the partitions that are not assigned any more begins.
     *
     * @throws IllegalStateException if the consumer is subscribed
     */
    public void assign(Collection<TopicPartition> partitions) {
        access.run("assign", () -> subscriber.assign(noNulls(partitions, "partitions")));
    }

    /** Subscribes without a listener. See {@link #subscribe(Collection, RebalanceListener)}. */
    public void subscribe(Collection<String> topics) {
        subscribe(topics, RebalanceListener.NONE);
    }

    /**
     * Joins the group to read these topics. Later polls return records of the partitions that the group assigns to this
     * member. A topic that does not exist is read once it has been created. Replaces the previous subscription.
     *
     * @throws IllegalStateException if the consumer has no group id, or if partitions were assigned by {@link #assign}
     */
    public void subscribe(Collection<String> topics, RebalanceListener listener) {
        access.run("subscribe", () -> subscriber.subscribe(noNulls(topics, "topics"), notNull(listener, "listener")));
    }

    /** Subscribes without a listener. See {@link #subscribe(TopicPattern, RebalanceListener)}. */
    public void subscribe(TopicPattern pattern) {
        subscribe(pattern, RebalanceListener.NONE);
    }

    /**
     * Joins the group to read all topics whose names match the pattern, including topics created later. See {@link
     * #subscribe(Collection, RebalanceListener)}.
     */
    public void subscribe(TopicPattern pattern, RebalanceListener listener) {
        access.run("subscribe", () -> subscriber.subscribe(notNull(pattern, "pattern"), notNull(listener, "listener")));
    }

    /** Leaves the group and removes all assigned partitions. If automatic commits are on, commits first. */
    public void unsubscribe() {
        access.run("unsubscribe", subscriber::unsubscribe);
    }

    /** Returns the assigned partitions. */
    public Set<TopicPartition> assignment() {
        return access.call("assignment", fetcher::assignment);
    }

    /**
     * Returns all partitions of a topic, as the broker reports them. Pass them to {@link #assign} to read the whole
     * topic.
     *
     * @throws io.journalq.client.error.UnknownTopicException if the topic does not exist
     */
    public Set<TopicPartition> partitionsOf(String topic) {
        return access.call("partitionsOf", () -> fetcher.partitionsOf(notNull(topic, "topic")));
    }

    /**
     * Sets the position of an assigned partition.
     *
     * @param offset the offset of the next record to read, at least 0
     */
    public void seek(TopicPartition partition, long offset) {
        access.run("seek", () -> {
            notNull(partition, "partition");
            if (offset < 0) {
                throw new IllegalArgumentException("offset " + offset + " of " + partition + "; use 0 or more");
            }
            fetcher.seek(Map.of(partition, offset));
        });
    }

    /** Suspends reading from assigned partitions until {@link #resume}. They stay assigned and keep their positions. */
    public void pause(Collection<TopicPartition> partitions) {
        access.run("pause", () -> fetcher.pause(noNulls(partitions, "partitions")));
    }

    /** Resumes reading from paused partitions. */
    public void resume(Collection<TopicPartition> partitions) {
        access.run("resume", () -> fetcher.resume(noNulls(partitions, "partitions")));
    }

    /** Returns the paused partitions. */
    public Set<TopicPartition> paused() {
        return access.call("paused", fetcher::paused);
    }

    /** Sets the positions of assigned partitions to their first offsets. This call looks the offsets up. */
    public void seekToBeginning(Collection<TopicPartition> partitions) {
        access.run("seekToBeginning", () -> fetcher.seek(noNulls(partitions, "partitions"), OffsetSpec.earliest()));
    }

    /**
     * Sets the positions of assigned partitions to their ends, so that only records appended from now on are read. This
     * call looks the offsets up.
     */
    public void seekToEnd(Collection<TopicPartition> partitions) {
        access.run("seekToEnd", () -> fetcher.seek(noNulls(partitions, "partitions"), OffsetSpec.latest()));
    }

    /**
     * Resets all assigned partitions to the committed offsets of the group, or else as set by {@link Builder#startAt}.
     * Use it after a transaction was aborted. The next poll looks the offsets up.
     */
    public void seekToCommitted() {
        access.run("seekToCommitted", fetcher::forgetPositions);
    }

    /**
     * Sets the positions of assigned partitions to the first record at or after a time, or to the end if there is none.
     * This call looks the offsets up.
     *
     * @param timestampMs milliseconds since 1970 UTC
     */
    public void seekToTime(Collection<TopicPartition> partitions, long timestampMs) {
        access.run(
                "seekToTime", () -> fetcher.seek(noNulls(partitions, "partitions"), OffsetSpec.atOrAfter(timestampMs)));
    }

    /**
     * Waits for records and returns them. For a member of a group, this call also adds and revokes partitions and calls
     * the listener.
     *
     * @param timeout the maximum time to wait for records; zero returns only what has already arrived. A poll that has
     *     to look up positions or give up partitions can take up to {@link Builder#callTimeout} longer
     * @return the records, empty if none arrived in time; valid until the next call of this method or of {@link
     *     #close()}
     * @throws io.journalq.client.error.WakeupException if {@link #wakeup()} was called
     * @throws io.journalq.client.error.ClientClosedException if the consumer is closed, also by another thread while this
     *     call waits
     * @throws io.journalq.client.error.OffsetOutOfRangeException if a position does not exist and {@link Start#NOWHERE}
     *     is set
     * @throws JournalQException if a partition cannot be read, because a right is missing for example; later polls throw
     *     it again while that is so. Also if the group rejects this consumer; every poll throws it until the consumer
     *     subscribes again
     */
    public ConsumerRecords poll(Duration timeout) {
        access.enter("poll");
        try {
            long timeoutNanos = nanos(timeout, "timeout");
            last.release();
            last = new ConsumerRecords(List.of());
            last = new ConsumerRecords(subscriber.poll(timeoutNanos));
            interceptors.onRecords(last);
            return last;
        } finally {
            access.leave();
        }
    }

    /**
     * Returns a publisher of the records of this consumer, for one subscriber. Subscribe the consumer to topics, or
     * assign partitions, first. From then on the consumer belongs to a thread of the publisher, which polls and calls the
     * subscriber; only {@link #metrics()} and {@link #close()} may be called by other threads.
     *
     * <ul>
     *   <li>The publisher polls only while the subscriber has requested records, and holds no records beside those of
     *       the last poll.
     *   <li>Records that the subscriber has received count as returned by a poll: automatic commits cover them, and no
     *       others. With {@code autoCommit(false)}, the subscriber may call {@link #commit()} in {@code onNext}, which
     *       covers all records of the last poll, or {@link #commit(Map)}.
     *   <li>A subscriber that requests no record for {@link Builder#maxPollInterval} loses its place in the group, like an
     *       application that does not poll.
     *   <li>If the subscriber cancels, the publisher closes the consumer. If the application closes the consumer, the
     *       subscriber is completed. If a poll fails, the consumer is closed and the subscriber gets the exception.
     * </ul>
     */
    public Flow.Publisher<ConsumerRecord> publisher() {
        access.requireOpen();
        return new RecordPublisher(this);
    }

    /** Keeps other threads out of the consumer while {@code body} runs, which may use it. */
    void occupy(Runnable body) {
        access.run("publisher", body);
    }

    /** Whether the consumer is closed, or another thread waits to close it. Any thread. */
    boolean isClosed() {
        return access.isClosed();
    }

    /**
     * Interrupts a {@link #poll} or {@link #commit} that is waiting: it throws {@link
     * io.journalq.client.error.WakeupException}. If none is waiting, the next one throws. Any thread may call this.
     */
    public void wakeup() {
        access.requireOpen();
        fetcher.parking().wakeup();
    }

    /**
     * Commits the positions of all records that polls have returned, and blocks until the group coordinator has stored
     * them. Retries for up to {@link Builder#callTimeout}.
     */
    public void commit() {
        access.run("commit", () -> subscriber.group().commit());
    }

    /**
     * Commits these offsets, and blocks until the group coordinator has stored them.
     *
     * @param offsets by partition: the offset of the next record to read
     * @throws io.journalq.client.error.MembershipLostException if this consumer is no longer a member of the group
     */
    public void commit(Map<TopicPartition, CommittedOffset> offsets) {
        access.run("commit", () -> subscriber.group().commit(noNulls(offsets, "offsets")));
    }

    /**
     * Commits without blocking. See {@link #commit()}. Commits are sent in the order of the calls. The future completes
     * on a thread of the client.
     */
    public CompletableFuture<Void> commitAsync() {
        return access.call("commitAsync", () -> subscriber.group().commitAsync());
    }

    /** Commits without blocking. See {@link #commit(Map)}. The future completes on a thread of the client. */
    public CompletableFuture<Void> commitAsync(Map<TopicPartition, CommittedOffset> offsets) {
        return access.call("commitAsync", () -> subscriber.group().commitAsync(noNulls(offsets, "offsets")));
    }

    /**
     * Returns the committed offsets of the group. Partitions without a committed offset are missing from the result.
     */
    public Map<TopicPartition, CommittedOffset> committed(Collection<TopicPartition> partitions) {
        return access.call("committed", () -> subscriber.committed(noNulls(partitions, "partitions")));
    }

    /** Returns the current identity of this consumer in its group. */
    public GroupMember groupMember() {
        return access.call("groupMember", () -> subscriber.group().member());
    }

    /** Returns the offset of the next record that a poll returns. Asks the broker if the partition has no position. */
    public long position(TopicPartition partition) {
        return access.call("position", () -> subscriber.position(notNull(partition, "partition")));
    }

    /** Returns the first offset of each partition. The partitions need not be assigned. */
    public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
        return access.call(
                "beginningOffsets",
                () -> onlyOffsets(fetcher.lookup().offsets(noNulls(partitions, "partitions"), OffsetSpec.earliest())));
    }

    /**
     * Returns the end of each partition, which is the offset of the next record appended. The partitions need not be
     * assigned.
     */
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        return access.call(
                "endOffsets",
                () -> onlyOffsets(fetcher.lookup().offsets(noNulls(partitions, "partitions"), OffsetSpec.latest())));
    }

    /**
     * Looks up the first record at or after a time in each partition. Partitions without such a record are missing from
     * the result. The partitions need not be assigned.
     *
     * @param timestampsMs by partition: milliseconds since 1970 UTC, 0 or more
     * @throws IllegalArgumentException if a time is negative
     */
    public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(Map<TopicPartition, Long> timestampsMs) {
        return access.call("offsetsForTimes", () -> {
            noNulls(timestampsMs, "timestampsMs").forEach((partition, timestampMs) -> {
                if (timestampMs < 0) {
                    throw new IllegalArgumentException(
                            "the timestamp of " + partition + " is " + timestampMs + " ms; use 0 or more");
                }
            });
            Map<TopicPartition, OffsetAndTimestamp> found = new LinkedHashMap<>();
            fetcher.lookup().offsets(timestampsMs).forEach((partition, offset) -> {
                if (offset.found()) {
                    found.put(partition, new OffsetAndTimestamp(offset.offset(), offset.timestampMs()));
                }
            });
            return found;
        });
    }

    /** Returns a snapshot of the counters. Any thread may call this. */
    public ConsumerMetrics metrics() {
        access.requireOpen();
        FailureLog failures = fetcher.core().cluster().failureLog();
        return new ConsumerMetrics(
                fetcher.fetches(),
                fetcher.fetchedBytes(),
                fetcher.records(),
                failures.total(FailureLog.Cause.FAILED_FETCH),
                subscriber.failedCommits(),
                failures.total(FailureLog.Cause.NO_BROKER),
                failures.total(FailureLog.Cause.UNKNOWN_TOPIC),
                failures.total(FailureLog.Cause.LOST_COORDINATOR),
                failures.total(FailureLog.Cause.NOT_AUTHORIZED),
                fetcher.missingBatches(),
                failures.lastFailure());
    }

    /**
     * Leaves the group and closes the connections. If automatic commits are on, commits first. Releases the records of
     * the last poll. Waits at most 30 seconds for a broker that does not respond. A second call of this method has no
     * effect.
     *
     * <p>Any thread may call this method, but make sure that no thread still reads the records of the last poll. If a
     * thread waits in another method, such as {@link #poll}, that method throws {@link
     * io.journalq.client.error.ClientClosedException}, and this one waits until it has. Rebalance listeners are called by
     * the thread that closes the consumer, and may still use it.
     *
     * @throws IllegalStateException if a rebalance listener calls this method
     */
    @Override
    public void close() {
        if (!access.beginClose(subscriber::endWaits)) {
            return;
        }
        try {
            subscriber.resumeWaits();
            last.release();
            last = new ConsumerRecords(List.of());
            subscriber.close();
        } finally {
            access.leave();
        }
    }

    private static Map<TopicPartition, Long> onlyOffsets(Map<TopicPartition, ListedOffset> listed) {
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        listed.forEach((partition, offset) -> offsets.put(partition, offset.offset()));
        return offsets;
    }

    /** Where reading starts if a partition has no position, or if its position no longer exists. Immutable. */
    public static final class Start {
        /** At the first offset of the partition. */
        public static final Start BEGINNING = new Start(OffsetSpec.earliest(), null);
        /** At the end of the partition: only records appended later are read. */
        public static final Start END = new Start(OffsetSpec.latest(), null);
        /** Nowhere: {@code poll} throws {@link io.journalq.client.error.OffsetOutOfRangeException}. */
        public static final Start NOWHERE = new Start(null, null);

        private final OffsetSpec fixed;
        private final Duration age;

        private Start(OffsetSpec fixed, Duration age) {
            this.fixed = fixed;
            this.age = age;
        }

        /** At the first record that is not older than {@code age}, by its timestamp (KIP-1106). */
        public static Start notOlderThan(Duration age) {
            return new Start(null, notNegative(age, "age"));
        }

        /**
         * Returns the offset to look up at a given time, or null for {@link #NOWHERE}.
         *
         * @param nowMs the current time in milliseconds since 1970 UTC
         */
        OffsetSpec at(long nowMs) {
            return age == null ? fixed : OffsetSpec.atOrAfter(Math.max(0, nowMs - age.toMillis()));
        }
    }

    /** Which records of transactions are read. */
    public enum Isolation {
        /** All records, including those of open and aborted transactions. */
        READ_UNCOMMITTED,
        /**
         * Only records of committed transactions. Reading stops before the first record of an open transaction
         * (KIP-98).
         */
        READ_COMMITTED
    }

    /** Builds a consumer. Not thread-safe. */
    public static final class Builder extends ConsumerSettings<Builder> {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /**
         * Creates the consumer. It connects in the background; errors are reported by its first call.
         *
         * @throws IllegalArgumentException if {@code groupInstanceId} or {@code groupAssignor} is set without {@code
         *     groupId}
         */
        public Consumer build() {
            ConsumerInterceptors called = interceptors();
            GroupConfig group = groupConfig(called);
            return new Consumer(consumerConfig(), group, called);
        }
    }
}
