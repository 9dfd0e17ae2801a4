package io.journalq.sim.workload;

import java.util.HashMap;
import java.util.Map;

/**
 * What the coordinator told the members of one group: the leader of a generation, and the owner of a partition. Later
 * responses are newer, because a group has one coordinator.
 */
public final class GroupHistory {
    private static final String INVARIANT = "GroupMembersAgree";

    private final World world;
    private final String name;
    private final Map<Integer, String> leaders = new HashMap<>();
    private final Map<PartitionHistory, Grant> owners = new HashMap<>();
    private final Map<String, Integer> epochs = new HashMap<>();
    private int newestGeneration = -1;
    private int syncedGeneration = -1;
    private long newestAtMs;

    /**
     * An assignment of a partition to a member.
     *
     * @param atMs time of the response
     */
    private record Grant(String memberId, int epoch, long atMs) {}

    public GroupHistory(World world, String name) {
        this.world = world;
        this.name = name;
    }

    String name() {
        return name;
    }

    /** Forgets everything: a power loss may have taken the newest states of the group. */
    public void forget() {
        leaders.clear();
        owners.clear();
        epochs.clear();
        newestGeneration = -1;
        syncedGeneration = -1;
    }

    /** A member of the classic protocol learns its generation. */
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

    /** The members of a generation have their assignments. From now on, the generation survives a crash. */
    void onSynced(int generation) {
        syncedGeneration = Math.max(syncedGeneration, generation);
    }

    /** The broker has crashed. Generations without assignments are lost. */
    public void onCrash() {
        leaders.keySet().removeIf(generation -> generation > syncedGeneration);
        newestGeneration = Math.min(newestGeneration, syncedGeneration);
    }

    /** A member of the consumer protocol learns its epoch. */
    void onMemberEpoch(String memberId, int epoch) {
        Integer known = epochs.put(memberId, epoch);
        if (known != null && known > epoch) {
            world.report(INVARIANT, name + " sends " + memberId + " epoch " + epoch + " after epoch " + known);
        }
    }

    /** A member learns that it owns a partition. */
    void onGranted(PartitionHistory partition, String memberId, int epoch) {
        owners.put(partition, new Grant(memberId, epoch, world.nowMs()));
    }

    /** A commit of a member was acknowledged. */
    void onCommitted(PartitionHistory partition, OffsetCommitSender.Member member, boolean classic, long sentAtMs) {
        if (classic && member.epoch() < newestGeneration && newestAtMs < sentAtMs) {
            world.report(
                    INVARIANT,
                    name + " acknowledges a commit of " + member + " after the beginning of generation "
                            + newestGeneration);
        }
        Grant owner = owners.get(partition);
        boolean other = owner != null && !owner.memberId().equals(member.memberId());
        if (other && owner.epoch() >= member.epoch() && owner.atMs() < sentAtMs) {
            world.report(
                    INVARIANT,
                    name + " acknowledges a commit of " + member + " for " + partition + ", which is owned by "
                            + owner);
        }
    }
}
