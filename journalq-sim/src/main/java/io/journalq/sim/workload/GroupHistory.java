package io.journalq.sim.workload;

import java.util.HashMap;
import java.util.Map;

/**
 * What members of one group were told: who leads a generation, who owns a partition. What is told later is newer, as a
 * group's coordinator speaks with one voice.
 */
public final class GroupHistory {
    private static final String INVARIANT = "GroupsAreOfOneMind";

    private final World world;
    private final String name;
    private final Map<Integer, String> leaders = new HashMap<>();
    private final Map<PartitionHistory, Grant> owners = new HashMap<>();
    private final Map<String, Integer> epochs = new HashMap<>();
    private int newestGeneration = -1;
    private int syncedGeneration = -1;
    private long newestAtMs;

    /**
     * A partition was given to a member.
     *
     * @param atMs when it was told
     */
    private record Grant(String memberId, int epoch, long atMs) {}

    public GroupHistory(World world, String name) {
        this.world = world;
        this.name = name;
    }

    String name() {
        return name;
    }

    /** Power loss may have taken the group's newest states: what was told before proves nothing any more. */
    public void forget() {
        leaders.clear();
        owners.clear();
        epochs.clear();
        newestGeneration = -1;
        syncedGeneration = -1;
    }

    /** A member of the classic protocol is told of a generation. */
    void onGeneration(int generation, String leader) {
        String known = leaders.putIfAbsent(generation, leader);
        if (known != null && !known.equals(leader)) {
            world.report(
                    INVARIANT, name + " has two leaders in generation " + generation + ": " + known + " and " + leader);
        }
        if (generation > newestGeneration) {
            newestGeneration = generation;
            newestAtMs = world.nowMs();
        }
    }

    /** The generation's members know what they own: from now on it outlives the broker. */
    void onSynced(int generation) {
        syncedGeneration = Math.max(syncedGeneration, generation);
    }

    /** The broker is gone, and with it every generation that was not synced. */
    public void onCrash() {
        leaders.keySet().removeIf(generation -> generation > syncedGeneration);
        newestGeneration = Math.min(newestGeneration, syncedGeneration);
    }

    /** A member of the consumer protocol is told its epoch. */
    void onMemberEpoch(String memberId, int epoch) {
        Integer known = epochs.put(memberId, epoch);
        if (known != null && known > epoch) {
            world.report(
                    INVARIANT, name + " tells " + memberId + " epoch " + epoch + ", and told it " + known + " before");
        }
    }

    /** A member is told that a partition is its own. */
    void onGranted(PartitionHistory partition, String memberId, int epoch) {
        owners.put(partition, new Grant(memberId, epoch, world.nowMs()));
    }

    /** A commit of a member's was taken. */
    void onCommitted(PartitionHistory partition, OffsetCommitSender.Member member, boolean classic, long askedAtMs) {
        if (classic && member.epoch() < newestGeneration && newestAtMs < askedAtMs) {
            world.report(
                    INVARIANT,
                    name + " takes a commit of " + member + ", though generation " + newestGeneration
                            + " began before");
        }
        Grant owner = owners.get(partition);
        boolean other = owner != null && !owner.memberId().equals(member.memberId());
        if (other && owner.epoch() >= member.epoch() && owner.atMs() < askedAtMs) {
            world.report(
                    INVARIANT, name + " takes a commit of " + member + " for " + partition + ", owned by " + owner);
        }
    }
}
