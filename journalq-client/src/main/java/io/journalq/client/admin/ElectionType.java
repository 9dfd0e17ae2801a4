package io.journalq.client.admin;

/** How the leader of a partition is elected. */
public enum ElectionType {
    /** The first replica leads, if it is in sync. Nothing is lost. */
    PREFERRED,
    /**
     * Any live replica leads a partition that has no leader. Acknowledged records can be lost. The topic must allow it
     * with {@code unclean.leader.election.enable=true}.
     */
    UNCLEAN
}
