package io.journalq.client.internal.membership;

import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.group.TopicPattern;
import io.journalq.client.internal.fetch.Fetcher;
import io.journalq.client.internal.fetch.Parking;
import io.journalq.common.id.TopicPartition;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The thread of the consumer: polls, and follows the group between polls. Without a group, it reads only partitions
 * that the application has assigned. One thread at a time.
 */
public final class Subscriber {
    /**
     * The topics to which a member subscribes. Immutable.
     *
     * @param topics the names of topics; empty with a pattern
     * @param pattern null with names
     */
    record Subscription(List<String> topics, TopicPattern pattern) {
        Subscription {
            topics = List.copyOf(topics);
        }
    }

    /** The maximum duration of a single wait. A thread that waits in a long poll must not be considered dead. */
    private static final long MAX_PARK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Fetcher fetcher;
    private final Parking parking;
    private final GroupConsumer group;
    private boolean inPoll;
    private boolean assignedByHand;

    /**
     * Creates a consumer without partitions.
     *
     * @param config null for a consumer without a group
     */
    public Subscriber(Fetcher fetcher, GroupConfig config) {
        this.fetcher = fetcher;
        this.parking = fetcher.parking();
        this.group = config == null ? null : new GroupConsumer(fetcher, config);
    }

    /** See {@link io.journalq.client.Consumer#assign}. */
    public void assign(Collection<TopicPartition> partitions) {
        if (group != null && group.isSubscribed()) {
            throw new IllegalStateException(
                    "the consumer is subscribed, so its group assigns the partitions; unsubscribe first");
        }
        if (group != null) {
            group.commitAllExcept(partitions);
        }
        assignedByHand = !partitions.isEmpty();
        fetcher.assign(partitions);
    }

    /** See {@link io.journalq.client.Consumer#subscribe}. */
    public void subscribe(Collection<String> topics, RebalanceListener listener) {
        subscribe(new Subscription(List.copyOf(topics), null), listener);
    }

    /** See {@link io.journalq.client.Consumer#subscribe}. */
    public void subscribe(TopicPattern pattern, RebalanceListener listener) {
        subscribe(new Subscription(List.of(), pattern), listener);
    }

    private void subscribe(Subscription subscription, RebalanceListener listener) {
        if (assignedByHand) {
            throw new IllegalStateException("partitions have been assigned with assign; unsubscribe first");
        }
        requireGroup("subscribe").subscribe(subscription, listener);
    }

    /** See {@link io.journalq.client.Consumer#unsubscribe}. */
    public void unsubscribe() {
        if (group != null) {
            group.unsubscribe();
        }
        assignedByHand = false;
        fetcher.assign(List.of());
    }

    /** See {@link io.journalq.client.Consumer#poll}. */
    public List<Fetcher.FetchedPartition> poll(long timeoutNanos) {
        if (inPoll) {
            throw new IllegalStateException("a rebalance listener must not call poll");
        }
        inPoll = true;
        try {
            return doPoll(timeoutNanos);
        } finally {
            inPoll = false;
        }
    }

    private List<Fetcher.FetchedPartition> doPoll(long timeoutNanos) {
        fetcher.beginPoll();
        if (group != null) {
            group.commitIfDue();
        }
        long endNanos = System.nanoTime() + timeoutNanos;
        while (true) {
            parking.throwIfWokenUp();
            if (group != null) {
                group.follow();
            }
            startUnknown();
            List<Fetcher.FetchedPartition> fetched = fetcher.take();
            long leftNanos = endNanos - System.nanoTime();
            if (!fetched.isEmpty() || leftNanos <= 0) {
                return fetched;
            }
            long parkNanos = Math.min(leftNanos, MAX_PARK_NANOS);
            parking.await(
                    group == null ? parkNanos : Math.min(parkNanos, group.pauseNanos()),
                    () -> fetcher.hasResults() || (group != null && group.hasNews()),
                    "records");
        }
    }

    /** Sets the positions of partitions without one, to the committed offset of the group or else as configured. */
    private void startUnknown() {
        List<TopicPartition> unknown = fetcher.withoutPosition();
        if (unknown.isEmpty()) {
            return;
        }
        if (group != null) {
            Map<TopicPartition, CommittedOffset> committed = committed(unknown);
            group.onStart(committed);
            fetcher.seekToCommitted(committed);
            unknown = fetcher.withoutPosition();
        }
        if (!unknown.isEmpty()) {
            fetcher.startAsConfigured(unknown);
        }
    }

    /** See {@link io.journalq.client.Consumer#position}. */
    public long position(TopicPartition partition) {
        if (fetcher.position(partition) < 0) {
            startUnknown();
        }
        return fetcher.position(partition);
    }

    /** See {@link io.journalq.client.Consumer#committed}. */
    public Map<TopicPartition, CommittedOffset> committed(Collection<TopicPartition> partitions) {
        return requireGroup("read committed offsets").committed(partitions);
    }

    /** The group of this consumer, for commits. */
    public GroupConsumer group() {
        return requireGroup("commit");
    }

    /** The number of automatic commits that failed after all retries. Any thread. */
    public long failedCommits() {
        return group == null ? 0 : group.failedCommits();
    }

    /** Ends the waits of a thread that uses the consumer. Any thread. */
    public void endWaits() {
        parking.endAll();
        fetcher.core().cluster().waits().endAll();
    }

    /** Allows waits again. Called by the thread that closes the consumer. */
    public void resumeWaits() {
        parking.resume();
        fetcher.core().cluster().waits().resume();
    }

    /** Commits and leaves the group, as far as the timeout allows, then closes the connections. */
    public void close() {
        try {
            if (group != null) {
                group.close();
            }
        } finally {
            fetcher.close();
        }
    }

    private GroupConsumer requireGroup(String what) {
        if (group == null) {
            throw new IllegalStateException("a consumer without a group cannot " + what + "; build it with groupId");
        }
        return group;
    }
}
