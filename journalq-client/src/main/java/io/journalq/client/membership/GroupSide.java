package io.journalq.client.membership;

import io.journalq.client.JournalQException;
import io.journalq.client.coordinator.Coordinator;
import io.journalq.client.error.WakeupException;
import io.journalq.client.fetch.Fetcher;
import io.journalq.client.fetch.Parking;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.membership.Standing.State;
import io.journalq.client.network.Cluster;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the consumer's thread does for its group: takes partitions and gives them up as the group wants, step by step
 * (stop reading, commit, tell the listener, tell the group), and commits. Belongs to the consumer's thread, except {@link
 * #failedCommits}.
 */
public final class GroupSide {
    private static final int CLOSE_TIMEOUT_MS = 30_000;

    private final Fetcher fetcher;
    private final Parking parking;
    private final GroupConfig config;
    private final Coordinator coordinator;
    private final Membership membership;
    private final Commits commits;
    private final TopicNames names;
    private final int callTimeoutMs;
    private final LongAdder failedCommits = new LongAdder();
    private final Map<Owned, TopicPartition> owned = new LinkedHashMap<>();
    /** Offsets as they are committed, or on their way, so that nothing is committed twice. */
    private final Map<TopicPartition, Long> autoCommitted = new HashMap<>();

    private RebalanceListener listener = RebalanceListener.NONE;
    private boolean subscribed;
    private Standing followed;
    private JournalQException forgiven;
    private boolean unnamed;
    private long nextCommitNanos = System.nanoTime();
    private volatile boolean autoCommitFailed;

    GroupSide(Fetcher fetcher, GroupConfig config) {
        Cluster cluster = fetcher.core().cluster();
        this.fetcher = fetcher;
        this.parking = fetcher.parking();
        this.config = config;
        this.callTimeoutMs = cluster.config().callTimeoutMs();
        this.coordinator = new Coordinator(cluster, Coordinator.Kind.GROUP, config.groupId());
        this.membership = new Membership(cluster, config, coordinator, parking::signal);
        this.commits = new Commits(cluster.eventLoop(), coordinator, config, membership, callTimeoutMs);
        this.names = new TopicNames(coordinator, parking::signal, callTimeoutMs);
    }

    boolean isSubscribed() {
        return subscribed;
    }

    void subscribe(Subscription subscription, RebalanceListener hearsOfIt) {
        listener = hearsOfIt;
        subscribed = true;
        // The loop tries again in a moment: until then the failure stands there still.
        forgiven = membership.standing().failure();
        membership.join(subscription);
    }

    /** Gives everything back and leaves the group. */
    void unsubscribe() {
        leave(callTimeoutMs);
    }

    /** Commits and leaves, as far as that goes; what fails here only makes others read a little again. */
    void close() {
        int timeoutMs = Math.min(CLOSE_TIMEOUT_MS, callTimeoutMs);
        if (subscribed) {
            leave(timeoutMs);
        } else if (config.autoCommit()) {
            commitQuietly(uncommitted(), timeoutMs);
        }
    }

    private void leave(int timeoutMs) {
        subscribed = false;
        try {
            if (membership.standing().isIn()) {
                revoke(Set.copyOf(owned.keySet()), timeoutMs);
            } else {
                lose();
            }
        } finally {
            followed = null;
            joinQuietly(membership.leave(), timeoutMs);
        }
    }

    /** Whether {@link #follow} has something to do. */
    boolean hasNews() {
        return subscribed && !membership.standing().equals(followed);
    }

    /** How long a wait for records may last until {@link #follow} has something to do by itself. */
    long pauseNanos() {
        return unnamed ? names.pauseNanos() : Long.MAX_VALUE;
    }

    /** Does what the group wants by now. Calls the listener. */
    void follow() {
        membership.polled();
        Standing standing = membership.standing();
        if (!subscribed || (standing.equals(followed) && !unnamed && standing.state() != State.FAILED)) {
            return;
        }
        followed = standing;
        switch (standing.state()) {
            case FAILED -> {
                lose();
                if (standing.failure() != forgiven) {
                    throw standing.failure();
                }
            }
            case LOST -> {
                try {
                    lose();
                } finally {
                    membership.rejoin();
                }
            }
            case IN -> reconcile(standing.target());
            case OUT, JOINING -> {}
        }
    }

    private void reconcile(Set<Owned> target) {
        if (target == null) {
            return;
        }
        Set<Owned> revoked = new LinkedHashSet<>(owned.keySet());
        revoked.removeAll(target);
        if (!revoked.isEmpty()) {
            revoke(revoked, callTimeoutMs);
            if (!membership.standing().isIn()) {
                // Lost meanwhile: the next look says so.
                return;
            }
        }
        take(target);
    }

    /** Stops reading, commits, tells the listener, and only then the group. */
    private void revoke(Set<Owned> revoked, int timeoutMs) {
        Collection<TopicPartition> partitions = partitions(revoked);
        fetcher.pause(partitions);
        if (config.autoCommit()) {
            Map<TopicPartition, CommittedOffset> offsets = uncommitted();
            offsets.keySet().retainAll(partitions);
            commitQuietly(offsets, timeoutMs);
        }
        try {
            if (membership.standing().state() == State.LOST) {
                if (!partitions.isEmpty()) {
                    listener.onLost(partitions);
                }
            } else if (!partitions.isEmpty()) {
                listener.onRevoked(partitions);
            }
        } finally {
            owned.keySet().removeAll(revoked);
            applyOwned();
        }
    }

    /** Takes what is new and has a name already. */
    private void take(Set<Owned> target) {
        Set<Uuid> topicIds = new LinkedHashSet<>();
        target.forEach(partition -> topicIds.add(partition.topicId()));
        names.learn(topicIds);
        unnamed = false;
        Map<Owned, TopicPartition> added = new LinkedHashMap<>();
        for (Owned partition : target) {
            String name = names.name(partition.topicId());
            if (name == null) {
                unnamed = true;
            } else if (!owned.containsKey(partition)) {
                added.put(partition, new TopicPartition(name, partition.partition()));
            }
        }
        if (added.isEmpty()) {
            return;
        }
        owned.putAll(added);
        try {
            fetcher.assign(owned.values());
            listener.onAssigned(List.copyOf(added.values()));
        } finally {
            membership.own(Set.copyOf(owned.keySet()));
        }
    }

    /** Everything is another member's already. */
    private void lose() {
        List<TopicPartition> lost = List.copyOf(owned.values());
        if (lost.isEmpty()) {
            return;
        }
        owned.clear();
        unnamed = false;
        autoCommitted.clear();
        fetcher.assign(List.of());
        listener.onLost(lost);
    }

    private void applyOwned() {
        fetcher.assign(owned.values());
        autoCommitted.keySet().retainAll(owned.values());
        membership.own(Set.copyOf(owned.keySet()));
    }

    private Collection<TopicPartition> partitions(Set<Owned> some) {
        List<TopicPartition> partitions = new ArrayList<>();
        some.forEach(partition -> partitions.add(owned.get(partition)));
        return partitions;
    }

    /** These partitions start where the group goes on. */
    void onStart(Map<TopicPartition, Long> offsets) {
        autoCommitted.putAll(offsets);
    }

    /** Commits automatically what the application got before this poll, when it is time. */
    void commitIfDue() {
        long nowNanos = System.nanoTime();
        if (!config.autoCommit() || nowNanos - nextCommitNanos < 0) {
            return;
        }
        nextCommitNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(config.autoCommitIntervalMs());
        Map<TopicPartition, CommittedOffset> offsets = uncommitted();
        if (!offsets.isEmpty()) {
            var unused = commits.commit(offsets).whenComplete((done, failure) -> {
                if (failure != null) {
                    failedCommits.increment();
                    autoCommitFailed = true;
                }
            });
        }
    }

    private Map<TopicPartition, CommittedOffset> uncommitted() {
        if (autoCommitFailed) {
            autoCommitFailed = false;
            autoCommitted.clear();
        }
        Map<TopicPartition, CommittedOffset> offsets = fetcher.consumed();
        offsets.entrySet().removeIf(entry -> {
            Long before = autoCommitted.put(entry.getKey(), entry.getValue().offset());
            return before != null && before == entry.getValue().offset();
        });
        return offsets;
    }

    private void commitQuietly(Map<TopicPartition, CommittedOffset> offsets, int timeoutMs) {
        if (!joinQuietly(commits.commit(offsets), timeoutMs)) {
            failedCommits.increment();
        }
    }

    /** Waits as long as it may; wakeups must not keep a consumer from leaving in order. */
    private boolean joinQuietly(CompletableFuture<Void> done, int timeoutMs) {
        try {
            parking.join(done, timeoutMs, "leaving the group");
            return true;
        } catch (WakeupException e) {
            boolean joined = joinQuietly(done, timeoutMs);
            parking.wakeup();
            return joined;
        } catch (JournalQException e) {
            return false;
        }
    }

    /** Commits everything that was read, and waits. */
    public void commit() {
        commit(fetcher.consumed());
    }

    /** Commits these offsets, and waits. */
    public void commit(Map<TopicPartition, CommittedOffset> offsets) {
        parking.join(commits.commit(offsets), callTimeoutMs, "a commit of group " + config.groupId());
    }

    /** Commits everything that was read. */
    public CompletableFuture<Void> commitAsync() {
        return commitAsync(fetcher.consumed());
    }

    /** Commits these offsets. */
    public CompletableFuture<Void> commitAsync(Map<TopicPartition, CommittedOffset> offsets) {
        return commits.commit(offsets);
    }

    Map<TopicPartition, CommittedOffset> committed(Collection<TopicPartition> partitions) {
        if (partitions.isEmpty()) {
            return Map.of();
        }
        return CommittedOffsets.read(parking.join(
                coordinator.ask(new CommittedOffsets(config.groupId(), partitions), callTimeoutMs),
                callTimeoutMs,
                "a look-up of committed offsets of group " + config.groupId()));
    }

    /** This consumer as its group knows it now. */
    public GroupMember member() {
        Standing standing = membership.standing();
        return standing.isIn()
                ? new GroupMember(config.groupId(), standing.memberId(), standing.epoch(), config.instanceId())
                : GroupMember.outsider(config.groupId());
    }

    long failedCommits() {
        return failedCommits.sum();
    }
}
