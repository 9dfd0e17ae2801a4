package io.journalq.server.replication;

import java.util.Arrays;

/**
 * The replicas that are in sync with the leader, other than the leader itself, and how much of the log each of them has
 * acknowledged. Fetches of replicas outside the set do not count. Pure and single-threaded.
 */
final class InSyncSet {
    private static final int[] NOBODY = {};
    private static final long[] NO_OFFSETS = {};
    private static final long NOTHING_FETCHED = -1L;

    private int[] members = NOBODY;
    private long[] fetchOffsets = NO_OFFSETS;
    private int requiredSize = 1;

    /**
     * Replaces the members. Those that stay keep what they have acknowledged.
     *
     * @param newMembers broker ids, without the leader's
     * @param newRequiredSize number of in-sync replicas, including the leader, without which nothing more becomes safe
     */
    void follow(int[] newMembers, int newRequiredSize) {
        long[] offsets = new long[newMembers.length];
        for (int i = 0; i < newMembers.length; i++) {
            int before = indexOf(newMembers[i]);
            offsets[i] = before < 0 ? NOTHING_FETCHED : fetchOffsets[before];
        }
        members = Arrays.copyOf(newMembers, newMembers.length);
        fetchOffsets = offsets;
        requiredSize = newRequiredSize;
    }

    private int indexOf(int replica) {
        int index = members.length - 1;
        while (index >= 0 && members[index] != replica) {
            index--;
        }
        return index;
    }

    /**
     * A replica fetches from {@code offset} on: it has everything before that.
     *
     * @return whether it is a member that had less before
     */
    boolean onFetch(int replica, long offset) {
        int index = indexOf(replica);
        if (index < 0 || fetchOffsets[index] >= offset) {
            return false;
        }
        fetchOffsets[index] = offset;
        return true;
    }

    /** Whether the leader is the only member. */
    boolean isEmpty() {
        return members.length == 0;
    }

    /** Whether enough replicas are in sync. */
    boolean isLargeEnough() {
        return members.length + 1 >= requiredSize;
    }

    /** All members have everything before the result, which is at most {@code offset}. */
    long safeOffset(long offset) {
        long safe = offset;
        for (long fetchOffset : fetchOffsets) {
            safe = Math.min(safe, fetchOffset);
        }
        return safe;
    }
}
