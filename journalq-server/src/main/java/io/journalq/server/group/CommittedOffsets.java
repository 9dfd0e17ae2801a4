package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.consumer.EmbeddedProtocol;
import io.journalq.server.group.model.Group;
import io.journalq.server.group.record.OffsetCommitKey;
import io.journalq.server.group.record.OffsetCommitValue;
import io.journalq.server.group.record.PendingOffsetKey;
import io.journalq.server.group.record.PendingOffsetValue;
import io.journalq.server.memory.MemoryAccount;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * The committed offsets of all groups of a machine, and the offsets of open transactions: who may read and commit them,
 * and how they change. A group whose clients assign partitions to themselves has offsets but no group object.
 *
 * <p>{@link OffsetExpiry} deletes old offsets, and {@link OffsetTruncation} moves them back when partitions have lost
 * records. On the thread of the machine.
 */
public final class CommittedOffsets {
    /**
     * From this transaction version on, the epoch of a marker is one more than that of the transaction that it ends.
     */
    private static final int FIRST_VERSION_WITH_GROWING_EPOCHS = 2;

    private final GroupLimits limits;
    private final Outbox outbox;
    private final Map<String, Group> groups;
    private final NavigableMap<String, GroupOffsets> offsets = new TreeMap<>();
    private final MemoryAccount memory;
    private final PendingOffsets pending;
    private final EndedTransactions ended = new EndedTransactions();

    /**
     * The group of the last replayed offset, which is usually also the group of the next one; null if it has no offsets
     * left.
     */
    private String lastReplayed;

    private GroupOffsets ofLastReplayed;

    /** Sum of the numbers of topics in which each group has offsets. */
    private int groupTopicCount;

    /** @param memory charged with offsets, by {@link OffsetSizes} */
    CommittedOffsets(GroupLimits limits, Outbox outbox, Map<String, Group> groups, MemoryAccount memory) {
        this.memory = memory;
        this.pending = new PendingOffsets(memory);
        this.limits = limits;
        this.outbox = outbox;
        this.groups = groups;
    }

    /**
     * The sender of a commit.
     *
     * @param memberId empty if the sender is not a member
     * @param instanceId its group instance id; null if it has none
     * @param generation its generation or member epoch; negative if it has none
     */
    public record Committer(String memberId, String instanceId, int generation) {}

    /**
     * An offset to commit.
     *
     * @param topicId zero if unknown
     * @param leaderEpoch of the last record that was read; -1 if unknown
     * @param partitionEpoch current leader epoch of the partition; -1 if unknown
     * @param metadata stored by the client; null for none
     */
    public record Commit(
            String topic,
            Uuid topicId,
            int partition,
            long offset,
            int leaderEpoch,
            int partitionEpoch,
            String metadata) {}

    /**
     * The offsets that a producer commits with its transaction.
     *
     * @param guard the number of the newest marker when the coordinator of the transaction was asked whether it is open
     */
    public record InTransaction(long producerId, short producerEpoch, long guard, List<Commit> commits) {}

    /** Whether the sender may commit offsets of a group now. */
    public ErrorCode check(String groupId, Committer committer, long nowMs) {
        Group group = groups.get(groupId);
        if (group != null) {
            return group.checkCommit(committer.memberId(), committer.instanceId(), committer.generation(), nowMs);
        }
        return committer.generation() < 0 ? ErrorCode.NONE : ErrorCode.ILLEGAL_GENERATION;
    }

    /**
     * The same for a commit in a transaction, which need not name its member: the caller has checked that the producer
     * is the newest of its transactional id (KIP-447).
     */
    ErrorCode checkInTransaction(String groupId, Committer committer, long nowMs) {
        boolean anonymous =
                committer.generation() < 0 && committer.memberId().isEmpty() && committer.instanceId() == null;
        if (anonymous) {
            return ErrorCode.NONE;
        }
        ErrorCode error = check(groupId, committer, nowMs);
        if (error == ErrorCode.REBALANCE_IN_PROGRESS) {
            // The member is one of the new generation. As in Kafka, whose clients take this error for fatal.
            return ErrorCode.NONE;
        }
        return error == ErrorCode.STALE_MEMBER_EPOCH ? ErrorCode.ILLEGAL_GENERATION : error;
    }

    /**
     * Commits offsets. The caller has checked the sender, and replies when this returns. Pending offsets of open
     * transactions for the same partition are discarded: as in Kafka, the last commit made counts, whether inside or
     * outside of a transaction, and not the transaction that ends last.
     *
     * @return the result of each commit, in order
     */
    public List<ErrorCode> commit(String groupId, List<Commit> commits, long nowMs) {
        return append(commits, nowMs, (commit, offset, records) -> {
            records.add(new CoordinatorRecord(key(groupId, commit.topic(), commit.partition()), offset.toRecord()));
            pending.forEachAt(
                    new PendingOffsets.Place(groupId, commit.topic(), commit.partition()),
                    (place, producerId, held) -> records.add(PendingOffsets.tombstone(place, producerId)));
        });
    }

    /** Like {@link #commit}, but the offsets take effect when the producer's transaction commits. */
    public List<ErrorCode> commitInTransaction(String groupId, InTransaction transaction, long nowMs) {
        return append(transaction.commits(), nowMs, (commit, offset, records) -> {
            PendingOffsets.Place place = new PendingOffsets.Place(groupId, commit.topic(), commit.partition());
            long producerId = transaction.producerId();
            GroupOffset newest = pending.newest(place, producerId, offset);
            records.add(new CoordinatorRecord(
                    place.key(producerId), new PendingOffsets.Pending(transaction.producerEpoch(), newest).toRecord()));
        });
    }

    /** The number of the newest marker, when the machine begins: earlier confirmations of transactions are outdated. */
    public void onGuard(long number) {
        ended.forgetBefore(number);
    }

    /** Whether the transaction may have ended since its coordinator was asked. */
    boolean isLate(InTransaction transaction) {
        return ended.isLate(transaction.producerId(), transaction.producerEpoch(), transaction.guard());
    }

    /** Whether there is memory for the commits. A commit that replaces an existing offset needs none. */
    boolean hasRoom(String groupId, List<Commit> commits) {
        GroupOffsets ofGroup = offsets.get(groupId);
        long moreBytes = ofGroup == null ? OffsetSizes.group(groupId) : 0;
        for (Commit commit : commits) {
            GroupOffset before = ofGroup == null ? null : ofGroup.get(commit.topic(), commit.partition());
            long metadata = OffsetSizes.text(commit.metadata());
            moreBytes += before == null
                    ? OffsetSizes.first(commit.topic()) + metadata
                    : metadata - OffsetSizes.text(before.metadata());
        }
        return memory.hasRoom(moreBytes);
    }

    /** The same for commits in a transaction. These are all stored in addition to the offsets in effect. */
    boolean hasRoomInTransaction(String groupId, InTransaction transaction) {
        long moreBytes = 0;
        for (Commit commit : transaction.commits()) {
            moreBytes += OffsetSizes.pending(groupId, commit.topic(), commit.metadata());
        }
        return memory.hasRoom(moreBytes);
    }

    private interface RecordsOf {
        void add(Commit commit, GroupOffset offset, List<CoordinatorRecord> records);
    }

    private List<ErrorCode> append(List<Commit> commits, long nowMs, RecordsOf recordsOf) {
        List<ErrorCode> outcomes = new ArrayList<>(commits.size());
        List<CoordinatorRecord> records = new ArrayList<>(commits.size());
        for (Commit commit : commits) {
            String metadata = commit.metadata() == null ? "" : commit.metadata();
            // A character can have three bytes.
            if (metadata.length() > limits.maxMetadataSizeBytes()
                    || ByteBufUtil.utf8Bytes(metadata) > MessageReader.MAX_STRING_SIZE_BYTES) {
                outcomes.add(ErrorCode.OFFSET_METADATA_TOO_LARGE);
                continue;
            }
            outcomes.add(ErrorCode.NONE);
            recordsOf.add(
                    commit,
                    new GroupOffset(
                            commit.offset(),
                            commit.leaderEpoch(),
                            commit.partitionEpoch(),
                            metadata,
                            nowMs,
                            commit.topicId()),
                    records);
        }
        if (!OffsetAppends.fits(records)) {
            return Collections.nCopies(commits.size(), ErrorCode.INVALID_COMMIT_OFFSET_SIZE);
        }
        outbox.append(records);
        return outcomes;
    }

    /**
     * Ends a producer's transaction: the offsets that it holds here take effect, or are discarded. Offsets of a later
     * epoch belong to a later transaction and stay, also if the end of the earlier one arrives a second time. Offsets of
     * an older epoch belong to a transaction that lost its end in a power loss, and are discarded.
     *
     * @param transactionVersion 2 if the epoch was incremented with the decision (KIP-890), less otherwise
     * @param number of the marker: earlier confirmations of the transaction are outdated
     * @return TRANSACTION_COORDINATOR_FENCED if the coordinator was replaced; nothing has changed then
     */
    ErrorCode onTransactionEnd(TransactionMarker marker, int transactionVersion, long number) {
        if (ended.isFenced(marker)) {
            return ErrorCode.TRANSACTION_COORDINATOR_FENCED;
        }
        ended.onEnd(marker, transactionVersion, number);
        long producerId = marker.producerId();
        int epoch = transactionVersion < FIRST_VERSION_WITH_GROWING_EPOCHS
                ? marker.producerEpoch()
                : marker.producerEpoch() - 1;
        List<CoordinatorRecord> records = new ArrayList<>();
        pending.forEachOf(producerId, (place, id, held) -> {
            if (held.producerEpoch() > epoch) {
                return;
            }
            if (marker.commit() && held.producerEpoch() == epoch) {
                records.add(new CoordinatorRecord(
                        key(place.groupId(), place.topic(), place.partition()),
                        held.offset().toRecord()));
                pending.addTombstonesOfOlder(place, held.offset().commitTimestampMs(), records);
            }
            // Behind the offset: if only a part is kept, the end comes again and finds the rest.
            records.add(PendingOffsets.tombstone(place, id));
        });
        OffsetAppends.append(outbox, records);
        return ErrorCode.NONE;
    }

    void replay(OffsetCommitKey key, OffsetCommitValue value) {
        String groupId = key.group();
        GroupOffsets ofGroup = groupId.equals(lastReplayed) ? ofLastReplayed : offsets.get(groupId);
        if (ofGroup == null) {
            ofGroup = new GroupOffsets();
            offsets.put(groupId, ofGroup);
            memory.add(OffsetSizes.group(groupId));
        }
        long before = ofGroup.sizeBytes(key.topic());
        int topicsBefore = ofGroup.topics().size();
        ofGroup.put(key.topic(), key.partition(), value == null ? null : GroupOffset.of(value));
        memory.add(ofGroup.sizeBytes(key.topic()) - before);
        groupTopicCount += ofGroup.topics().size() - topicsBefore;
        if (ofGroup.isEmpty()) {
            offsets.remove(groupId);
            memory.add(-OffsetSizes.group(groupId));
            lastReplayed = null;
            ofLastReplayed = null;
        } else {
            lastReplayed = groupId;
            ofLastReplayed = ofGroup;
        }
    }

    void replay(PendingOffsetKey key, PendingOffsetValue value) {
        pending.replay(key, value);
    }

    /** Whether the sender may read a group's offsets. */
    public ErrorCode checkFetch(String groupId, String memberId, int memberEpoch) {
        Group group = groups.get(groupId);
        return group == null ? ErrorCode.NONE : group.checkFetch(memberId, memberEpoch);
    }

    /** The committed offset of a group in a partition; null if there is none. */
    public GroupOffset get(String groupId, String topic, int partition) {
        GroupOffsets ofGroup = offsets.get(groupId);
        return ofGroup == null ? null : ofGroup.get(topic, partition);
    }

    /** Whether an open transaction may still change the group's offset in a partition. */
    public boolean isPending(String groupId, String topic, int partition) {
        return pending.contains(groupId, topic, partition);
    }

    /** Visits offsets of a group. */
    public interface Visitor {
        void visit(String topic, int partition, GroupOffset offset);
    }

    /** Visits every offset of a group, by topic. */
    public void forEach(String groupId, Visitor visitor) {
        GroupOffsets ofGroup = offsets.get(groupId);
        if (ofGroup != null) {
            ofGroup.topics()
                    .forEach((topic, ofTopic) ->
                            ofTopic.forEach((partition, offset) -> visitor.visit(topic, partition, offset)));
        }
    }

    /** Visits the offsets of groups in topics. */
    interface TopicVisitor {
        void visit(String groupId, String topic, TopicOffsets ofTopic);
    }

    /**
     * Visits the offsets in effect, by group and topic: one call for each topic of a group, because there may be a
     * million offsets.
     */
    void forEachTopic(TopicVisitor visitor) {
        offsets.forEach((groupId, ofGroup) ->
                ofGroup.topics().forEach((topic, ofTopic) -> visitor.visit(groupId, topic, ofTopic)));
    }

    /** Visits the offsets of open transactions. */
    void forEachPending(PendingOffsets.Visitor visitor) {
        pending.forEach(visitor);
    }

    /**
     * The offsets of one group in one topic.
     *
     * @param offsets by partition
     */
    public record GroupTopic(String groupId, String topic, SortedMap<Integer, Long> offsets) {}

    /** Number of pairs of a group and a topic in which it has offsets. */
    public int groupTopicCount() {
        return groupTopicCount;
    }

    /**
     * Lists offsets in the order of groups and topics, in pages, because there may be a million offsets.
     *
     * @param after the last element of the previous page; null for the first page
     * @param fullAtOffsets the page ends with the topic in which it reaches this number of offsets
     * @return empty if there are no more
     */
    public List<GroupTopic> page(GroupTopic after, int fullAtOffsets) {
        List<GroupTopic> page = new ArrayList<>();
        int count = 0;
        for (Map.Entry<String, GroupOffsets> ofGroup :
                (after == null ? offsets : offsets.tailMap(after.groupId(), true)).entrySet()) {
            boolean continued = after != null && after.groupId().equals(ofGroup.getKey());
            NavigableMap<String, TopicOffsets> topics = ofGroup.getValue().topics();
            for (Map.Entry<String, TopicOffsets> ofTopic :
                    (continued ? topics.tailMap(after.topic(), false) : topics).entrySet()) {
                SortedMap<Integer, Long> committed = new TreeMap<>();
                ofTopic.getValue().forEach((partition, offset) -> committed.put(partition, offset.offset()));
                page.add(new GroupTopic(ofGroup.getKey(), ofTopic.getKey(), committed));
                count += committed.size();
                if (count >= fullAtOffsets) {
                    return page;
                }
            }
        }
        return page;
    }

    /** Groups that have offsets, including those with offsets only in open transactions. */
    SortedSet<String> groupIds() {
        SortedSet<String> groupIds = pending.groupIds();
        groupIds.addAll(offsets.keySet());
        return groupIds;
    }

    /** Number of groups that have offsets in effect. */
    int groupCount() {
        return offsets.size();
    }

    boolean hasOffsets(String groupId) {
        return offsets.containsKey(groupId) || pending.contains(groupId);
    }

    /** Whether a group's offset of a partition may be deleted. */
    public ErrorCode checkDelete(String groupId) {
        Group group = groups.get(groupId);
        if (group == null) {
            return hasOffsets(groupId) ? ErrorCode.NONE : ErrorCode.GROUP_ID_NOT_FOUND;
        }
        boolean readable = group.isEmpty() || group.protocolType().equals(EmbeddedProtocol.TYPE);
        return readable ? ErrorCode.NONE : ErrorCode.NON_EMPTY_GROUP;
    }

    /**
     * Deletes a group's offset of a partition, unless the group is subscribed to the topic. The caller has checked the
     * group.
     */
    public ErrorCode delete(String groupId, String topic, int partition) {
        Group group = groups.get(groupId);
        if (group != null && group.isSubscribedTo(topic)) {
            return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC;
        }
        if (get(groupId, topic, partition) != null) {
            outbox.append(List.of(CoordinatorRecord.tombstone(key(groupId, topic, partition))));
        }
        return ErrorCode.NONE;
    }

    /** The records that delete a group's offsets together with the group. */
    List<CoordinatorRecord> tombstones(String groupId) {
        List<CoordinatorRecord> records = new ArrayList<>();
        forEach(
                groupId,
                (topic, partition, offset) -> records.add(CoordinatorRecord.tombstone(key(groupId, topic, partition))));
        pending.forEachIn(
                groupId, (place, producerId, held) -> records.add(PendingOffsets.tombstone(place, producerId)));
        return records;
    }

    /**
     * Deletes the offsets of deleted topics.
     *
     * @param isGone whether a topic no longer exists under an id (zero if unknown)
     */
    public void onTopicsGone(BiPredicate<String, Uuid> isGone) {
        OffsetAppends.append(outbox, ofTopicsGone(isGone));
    }

    /**
     * The same without appending, for when an append fails or is not allowed. A later load deletes the offsets again.
     */
    public void onTopicsGoneInMemory(BiPredicate<String, Uuid> isGone) {
        ofTopicsGone(isGone).forEach(this::replay);
    }

    private List<CoordinatorRecord> ofTopicsGone(BiPredicate<String, Uuid> isGone) {
        List<CoordinatorRecord> records = new ArrayList<>();
        forEachTopic((groupId, topic, ofTopic) -> ofTopic.forEachGone(
                id -> isGone.test(topic, id),
                partition -> records.add(CoordinatorRecord.tombstone(key(groupId, topic, partition)))));
        pending.forEach((place, producerId, held) -> {
            if (isGone.test(place.topic(), held.offset().topicId())) {
                records.add(PendingOffsets.tombstone(place, producerId));
            }
        });
        return records;
    }

    /** Takes a record of an offset that is in effect, or of a pending one. */
    void replay(CoordinatorRecord record) {
        if (record.key() instanceof OffsetCommitKey key) {
            replay(key, (OffsetCommitValue) record.value());
        } else {
            replay((PendingOffsetKey) record.key(), (PendingOffsetValue) record.value());
        }
    }

    /** Key of the record for the offset of a group in a partition. */
    static OffsetCommitKey key(String groupId, String topic, int partition) {
        return new OffsetCommitKey().setGroup(groupId).setTopic(topic).setPartition(partition);
    }
}
