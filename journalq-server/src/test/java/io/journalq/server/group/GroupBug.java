package io.journalq.server.group;

/**
 * Faults that are planted into a group coordinator. The simulation must find each of them by the invariant that it
 * breaks.
 */
enum GroupBug {
    NONE(""),
    /** All members also get the first partition. */
    GIVES_A_PARTITION_TO_ALL("two owners"),
    /** A rejected commit succeeds anyway. */
    LETS_FENCED_MEMBERS_COMMIT("committed to a partition of another"),
    /** A loaded coordinator misses the newest committed offset. */
    FORGETS_A_COMMIT("acknowledged"),
    /** A loaded coordinator sees the newest two committed offsets of a partition in the wrong order. */
    GOES_BACK_TO_AN_OLD_COMMIT("acknowledged");

    private final String finding;

    GroupBug(String finding) {
        this.finding = finding;
    }

    /** Part of the message when it is found. */
    String finding() {
        return finding;
    }
}
