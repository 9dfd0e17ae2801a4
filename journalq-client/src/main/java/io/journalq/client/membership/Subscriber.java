package io.journalq.client.membership;

import io.journalq.client.fetch.FetchedPartition;
import io.journalq.client.fetch.Fetcher;
import io.journalq.client.fetch.Parking;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.group.TopicPattern;
import io.journalq.common.id.TopicPartition;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The consumer's own thread: polls, and does what the group wants in between. Without a group it only reads what is
 * assigned by hand. One thread at a time.
 */
public final class Subscriber {
    /** Longest single wait, so that one long poll is not taken for a thread that stays away. */
    private static final long MAX_PARK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Fetcher fetcher;
    private final Parking parking;
    private final GroupSide group;
    private boolean inPoll;
    private boolean assignedByHand;

    /**
     * A consumer that reads nothing yet.
     *
     * @param config null for a consumer without a group
     */
    public Subscriber(Fetcher fetcher, GroupConfig config) {
        this.fetcher = fetcher;
        this.parking = fetcher.parking();
        this.group = config == null ? null : new GroupSide(fetcher, config);
    }

    /** See {@link io.journalq.client.Consumer#assign}. */
    public void assign(Collection<TopicPartition> partitions) {
        if (group != null && group.isSubscribed()) {
            throw new IllegalStateException("the consumer is subscribed, and its group assigns; unsubscribe first");
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
            throw new IllegalStateException("partitions are assigned by hand; unsubscribe first");
        }
        requireGroup("subscribe").subscribe(subscription, listener);
    }

    /** See {@link io.journalq.client.Consumer#unsubscribe}. */
    public void unsubscribe() {
        if (group != null && group.isSubscribed()) {
            group.unsubscribe();
        }
        assignedByHand = false;
        fetcher.assign(List.of());
    }

    /** See {@link io.journalq.client.Consumer#poll}. */
    public List<FetchedPartition> poll(long timeoutNanos) {
        if (inPoll) {
            throw new IllegalStateException("poll inside poll: a rebalance listener must not poll");
        }
        inPoll = true;
        try {
            return doPoll(timeoutNanos);
        } finally {
            inPoll = false;
        }
    }

    private List<FetchedPartition> doPoll(long timeoutNanos) {
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
            List<FetchedPartition> fetched = fetcher.take();
            long leftNanos = endNanos - System.nanoTime();
            if (!fetched.isEmpty() || leftNanos <= 0) {
                return fetched;
            }
            long parkNanos = Math.min(leftNanos, MAX_PARK_NANOS);
            parking.await(
                    group == null ? parkNanos : Math.min(parkNanos, group.pauseNanos()),
                    () -> fetcher.hasAnswers() || (group != null && group.hasNews()),
                    "records");
        }
    }

    /** Gives partitions without position theirs: where the group goes on, else as configured. */
    private void startUnknown() {
        List<TopicPartition> unknown = fetcher.withoutPosition();
        if (unknown.isEmpty()) {
            return;
        }
        if (group != null) {
            Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
            committed(unknown).forEach((partition, committed) -> offsets.put(partition, committed.offset()));
            group.onStart(offsets);
            fetcher.seek(offsets);
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
        return requireGroup("ask for committed offsets").committed(partitions);
    }

    /** The commits of the group that is set. */
    public GroupSide group() {
        return requireGroup("commit");
    }

    /** Automatic commits that failed for good. Any thread. */
    public long failedCommits() {
        return group == null ? 0 : group.failedCommits();
    }

    /** Commits and leaves as far as that goes in time, then closes the connections. */
    public void close() {
        try {
            if (group != null) {
                group.close();
            }
        } finally {
            fetcher.close();
        }
    }

    private GroupSide requireGroup(String what) {
        if (group == null) {
            throw new IllegalStateException("a consumer without a group cannot " + what + "; build it with groupId");
        }
        return group;
    }
}
