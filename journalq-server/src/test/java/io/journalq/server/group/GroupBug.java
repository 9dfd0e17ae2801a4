package io.journalq.server.group;

/** What a coordinator of groups could do wrong: planted, each must be found by the promise that it breaks. */
enum GroupBug {
    NONE(""),
    /** Everybody gets the first partition too. */
    GIVES_A_PARTITION_TO_ALL("two owners"),
    /** Whoever is refused a commit is served all the same. */
    LETS_FENCED_MEMBERS_COMMIT("committed to a partition of another"),
    /** A coordinator that is loaded misses the newest committed offset. */
    FORGETS_A_COMMIT("acknowledged"),
    /** A coordinator that is loaded sees the newest two committed offsets of a partition in the wrong order. */
    GOES_BACK_TO_AN_OLD_COMMIT("acknowledged");

    private final String finding;

    GroupBug(String finding) {
        this.finding = finding;
    }

    /** Part of what is said when it is found. */
    String finding() {
        return finding;
    }
}
