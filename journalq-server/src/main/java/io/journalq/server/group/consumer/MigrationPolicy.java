package io.journalq.server.group.consumer;

/** Which groups may change their protocol while they have members (KIP-848). */
public enum MigrationPolicy {
    /**
     * A group is converted to the consumer protocol when its first such member joins, and back when its last one
     * leaves.
     */
    BIDIRECTIONAL(true, true),
    /** To the consumer protocol only. */
    UPGRADE(true, false),
    /** Back to the classic protocol only. */
    DOWNGRADE(false, true),
    /** A group must be empty to change. */
    DISABLED(false, false);

    private final boolean upgrades;
    private final boolean downgrades;

    MigrationPolicy(boolean upgrades, boolean downgrades) {
        this.upgrades = upgrades;
        this.downgrades = downgrades;
    }

    boolean upgrades() {
        return upgrades;
    }

    boolean downgrades() {
        return downgrades;
    }
}
