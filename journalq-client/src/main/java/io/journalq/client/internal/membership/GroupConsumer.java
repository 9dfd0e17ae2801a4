package io.journalq.client.internal.membership;

import io.journalq.client.error.JournalQException;
import io.journalq.client.error.WakeupException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.fetch.Fetcher;
import io.journalq.client.internal.fetch.Parking;
import io.journalq.client.internal.membership.MembershipState.State;
import io.journalq.client.internal.network.Cluster;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The group membership as the thread of the consumer sees it. Follows the assignment step by step (stop reading,
 * commit, call the listener, confirm to the group), and commits offsets. Belongs to the thread of the consumer, except
 * {@link #failedCommits}.
 */
public final class GroupConsumer {
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
    private final Map<MembershipState.TopicIdPartition, TopicPartition> owned = new LinkedHashMap<>();
    /** The offsets that are committed or being committed, so that no offset is committed twice. */
    private final Map<TopicPartition, CommittedOffset> autoCommitted = new HashMap<>();

    private RebalanceListener listener = RebalanceListener.NONE;
    private boolean subscribed;
    private MembershipState followed;
    private JournalQException forgiven;
    private boolean unnamed;
    private long nextCommitNanos = System.nanoTime();
    private volatile boolean autoCommitFailed;

    /** How much longer a call may wait for responses. The time of listeners does not count. */
    private static final class Patience {
        private long leftNanos;

        private Patience(int timeoutMs) {
            this.leftNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        }

        /** Keeps a part of the time for another request. Returns how long it is. */
        private long keepSome() {
            long keptNanos = leftNanos / 10;
            leftNanos -= keptNanos;
            return keptNanos;
        }
    }

    GroupConsumer(Fetcher fetcher, GroupConfig config) {
        Cluster cluster = fetcher.core().cluster();
        this.fetcher = fetcher;
        this.parking = fetcher.parking();
        this.config = config;
        this.callTimeoutMs = cluster.config().callTimeoutMs();
        this.coordinator = new Coordinator(cluster, Coordinator.Kind.GROUP, config.groupId());
        this.membership = new Membership(cluster, config, coordinator, parking::signal);
        this.commits = new Commits(cluster, coordinator, config, membership, callTimeoutMs);
        this.names = new TopicNames(coordinator, parking::signal, callTimeoutMs);
    }

    boolean isSubscribed() {
        return subscribed;
    }

    void subscribe(Subscriber.Subscription subscription, RebalanceListener hearsOfIt) {
        listener = hearsOfIt;
        subscribed = true;
        // The event loop has not retried yet, so the state still contains the old failure.
        forgiven = membership.status().failure();
        membership.join(subscription);
    }

    /** Gives up all partitions, and leaves the group if the consumer is a member. */
    void unsubscribe() {
        end(callTimeoutMs);
    }

    /** Commits and leaves the group, if possible. If this fails, other members read some records again. */
    void close() {
        end(Math.min(CLOSE_TIMEOUT_MS, callTimeoutMs));
    }

    private void end(int timeoutMs) {
        Patience patience = new Patience(timeoutMs);
        if (subscribed) {
            leave(patience);
        } else if (config.autoCommit()) {
            commitQuietly(uncommitted(), patience);
        }
        autoCommitted.clear();
    }

    private void leave(Patience patience) {
        long keptNanos = patience.keepSome();
        subscribed = false;
        try {
            if (membership.status().isIn()) {
                revoke(Set.copyOf(owned.keySet()), patience);
            } else {
                lose();
            }
        } finally {
            followed = null;
            unnamed = false;
            patience.leftNanos += keptNanos;
            joinQuietly(membership.leave(), patience);
        }
    }

    /** Whether {@link #follow} has something to do. */
    boolean hasNews() {
        return subscribed && (!membership.status().equals(followed) || (unnamed && names.hasResponse()));
    }

    /** Returns how long a wait for records may last before {@link #follow} has to be called without a signal. */
    long pauseNanos() {
        return unnamed ? names.pauseNanos() : Long.MAX_VALUE;
    }

    /** Applies the current assignment. Calls the listener. */
    void follow() {
        membership.polled();
        MembershipState status = membership.status();
        if (!subscribed || (status.equals(followed) && !unnamed && status.state() != State.FAILED)) {
            return;
        }
        followed = status;
        switch (status.state()) {
            case FAILED -> {
                lose();
                if (status.failure() != forgiven) {
                    throw status.failure();
                }
            }
            case LOST -> {
                try {
                    lose();
                } finally {
                    membership.rejoin();
                }
            }
            case IN -> reconcile(status.target());
            case OUT, JOINING -> {}
        }
    }

    private void reconcile(Set<MembershipState.TopicIdPartition> target) {
        if (target == null) {
            return;
        }
        Set<MembershipState.TopicIdPartition> revoked = new LinkedHashSet<>(owned.keySet());
        revoked.removeAll(target);
        if (!revoked.isEmpty()) {
            revoke(revoked, new Patience(callTimeoutMs));
            if (!membership.status().isIn()) {
                // The membership has been lost; the next call handles that.
                return;
            }
        }
        take(target);
    }

    /** Stops reading, commits, calls the listener, and then confirms to the group. */
    private void revoke(Set<MembershipState.TopicIdPartition> revoked, Patience patience) {
        Collection<TopicPartition> partitions = partitions(revoked);
        fetcher.pause(partitions);
        if (config.autoCommit()) {
            Map<TopicPartition, CommittedOffset> offsets = fetcher.consumed();
            offsets.keySet().retainAll(partitions);
            commitQuietly(uncommitted(offsets), patience);
        }
        try {
            if (membership.status().state() == State.LOST) {
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

    /** Adds the new partitions whose topic names are known. */
    private void take(Set<MembershipState.TopicIdPartition> target) {
        Set<Uuid> topicIds = new LinkedHashSet<>();
        target.forEach(partition -> topicIds.add(partition.topicId()));
        names.learn(topicIds);
        unnamed = false;
        Map<MembershipState.TopicIdPartition, TopicPartition> added = new LinkedHashMap<>();
        for (MembershipState.TopicIdPartition partition : target) {
            String name = names.name(partition.topicId());
            if (name == null) {
                unnamed = true;
            } else if (!owned.containsKey(partition)) {
                added.put(partition, new TopicPartition(name, partition.partition()));
            }
        }
        if (added.isEmpty()) {
            membership.confirm(Set.copyOf(owned.keySet()));
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

    /** Drops all partitions, because they already belong to other members. */
    private void lose() {
        unnamed = false;
        List<TopicPartition> lost = List.copyOf(owned.values());
        if (lost.isEmpty()) {
            return;
        }
        owned.clear();
        autoCommitted.clear();
        fetcher.assign(List.of());
        listener.onLost(lost);
    }

    private void applyOwned() {
        fetcher.assign(owned.values());
        autoCommitted.keySet().retainAll(owned.values());
        membership.own(Set.copyOf(owned.keySet()));
    }

    private Map<TopicPartition, Uuid> topicIds() {
        Map<TopicPartition, Uuid> topicIds = new HashMap<>();
        owned.forEach((id, partition) -> topicIds.put(partition, id.topicId()));
        return topicIds;
    }

    private Collection<TopicPartition> partitions(Set<MembershipState.TopicIdPartition> some) {
        List<TopicPartition> partitions = new ArrayList<>();
        some.forEach(partition -> partitions.add(owned.get(partition)));
        return partitions;
    }

    /** Notes the committed offsets at which partitions start. */
    void onStart(Map<TopicPartition, CommittedOffset> offsets) {
        autoCommitted.putAll(offsets);
    }

    /** Starts an automatic commit of the partitions that the consumer is about to give up. */
    void commitAllExcept(Collection<TopicPartition> kept) {
        if (config.autoCommit()) {
            Map<TopicPartition, CommittedOffset> offsets = fetcher.consumed();
            offsets.keySet().removeAll(new HashSet<>(kept));
            startCommit(uncommitted(offsets));
        }
        autoCommitted.keySet().retainAll(new HashSet<>(kept));
    }

    /** Starts an automatic commit of the records that earlier polls returned, if the interval has passed. */
    void commitIfDue() {
        long nowNanos = System.nanoTime();
        if (!config.autoCommit() || nowNanos - nextCommitNanos < 0) {
            return;
        }
        nextCommitNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(config.autoCommitIntervalMs());
        startCommit(uncommitted());
    }

    private void startCommit(Map<TopicPartition, CommittedOffset> offsets) {
        if (!offsets.isEmpty()) {
            var unused = commits.commit(offsets, topicIds()).whenComplete((done, failure) -> {
                if (failure != null) {
                    failedCommits.increment();
                    autoCommitFailed = true;
                }
            });
        }
    }

    private Map<TopicPartition, CommittedOffset> uncommitted() {
        return uncommitted(fetcher.consumed());
    }

    /** Returns those of these offsets that are not committed. They count as committed from here. */
    private Map<TopicPartition, CommittedOffset> uncommitted(Map<TopicPartition, CommittedOffset> offsets) {
        if (autoCommitFailed) {
            autoCommitFailed = false;
            autoCommitted.clear();
        }
        offsets.entrySet().removeIf(entry -> {
            CommittedOffset before = autoCommitted.put(entry.getKey(), entry.getValue());
            return before != null && isSame(before, entry.getValue());
        });
        return offsets;
    }

    /** After a loss of records, the same offset can follow a record of another leader epoch. */
    private static boolean isSame(CommittedOffset before, CommittedOffset now) {
        return now.offset() == before.offset() && (now.leaderEpoch() < 0 || now.leaderEpoch() == before.leaderEpoch());
    }

    private void commitQuietly(Map<TopicPartition, CommittedOffset> offsets, Patience patience) {
        if (!joinQuietly(commits.commit(offsets, topicIds()), patience)) {
            failedCommits.increment();
        }
    }

    /** Waits as long as is left. A wakeup must not prevent a consumer from leaving its group properly. */
    private boolean joinQuietly(CompletableFuture<Void> done, Patience patience) {
        long endNanos = System.nanoTime() + patience.leftNanos;
        boolean wokenUp = false;
        try {
            while (true) {
                try {
                    long leftNanos = endNanos - System.nanoTime();
                    parking.join(done, TimeUnit.NANOSECONDS.toMillis(leftNanos), "leaving the group");
                    return true;
                } catch (WakeupException e) {
                    wokenUp = true;
                }
            }
        } catch (JournalQException e) {
            return false;
        } finally {
            patience.leftNanos = endNanos - System.nanoTime();
            if (wokenUp) {
                parking.wakeup();
            }
        }
    }

    /** Commits the positions of all returned records, and waits. */
    public void commit() {
        commit(fetcher.consumed());
    }

    /** Commits these offsets, and waits. */
    public void commit(Map<TopicPartition, CommittedOffset> offsets) {
        parking.join(commits.commit(offsets, topicIds()), callTimeoutMs, "a commit of group " + config.groupId());
    }

    /** Commits the positions of all returned records. */
    public CompletableFuture<Void> commitAsync() {
        return commitAsync(fetcher.consumed());
    }

    /** Commits these offsets. */
    public CompletableFuture<Void> commitAsync(Map<TopicPartition, CommittedOffset> offsets) {
        return commits.commit(offsets, topicIds());
    }

    Map<TopicPartition, CommittedOffset> committed(Collection<TopicPartition> partitions) {
        if (partitions.isEmpty()) {
            return Map.of();
        }
        return CommittedOffsetsRequest.read(parking.join(
                coordinator.ask(new CommittedOffsetsRequest(config.groupId(), partitions), callTimeoutMs),
                callTimeoutMs,
                "a lookup of committed offsets of group " + config.groupId()));
    }

    /** The current identity of this consumer in its group. */
    public GroupMember member() {
        MembershipState status = membership.status();
        return status.isIn()
                ? new GroupMember(config.groupId(), status.memberId(), status.epoch(), config.instanceId())
                : GroupMember.outsider(config.groupId());
    }

    long failedCommits() {
        return failedCommits.sum();
    }
}
