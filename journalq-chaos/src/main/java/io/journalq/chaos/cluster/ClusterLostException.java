package io.journalq.chaos.cluster;

/** The cluster cannot be used any more. The message is the finding. */
final class ClusterLostException extends Exception {
    private static final long serialVersionUID = 1L;

    ClusterLostException(String finding, Throwable cause) {
        super(finding, cause);
    }
}
