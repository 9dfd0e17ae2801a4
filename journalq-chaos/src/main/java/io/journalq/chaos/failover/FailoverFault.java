package io.journalq.chaos.failover;

import java.util.Locale;

/** What happens to a broker that leads partitions. */
public enum FailoverFault {
    /** SIGKILL of a broker that is not the controller. */
    KILL(1_500),
    /** SIGKILL of the controller. */
    CONTROLLER(5_000),
    /** SIGSTOP. The broker is fenced after 3 s without a heartbeat. */
    FREEZE(4_000),
    /** Nothing passes between the broker and the others, nor between it and the clients. */
    CUT(4_000),
    /** SIGTERM: the broker hands its partitions over first. */
    STOP(200),
    /** No fault: the partitions of the broker prefer another leader, and it is elected. */
    MOVE(200);

    private final long goalMs;

    FailoverFault(long goalMs) {
        this.goalMs = goalMs;
    }

    /** The longest time without an acknowledgement that is aimed at, for 99 of 100 faults. */
    public long goalMs() {
        return goalMs;
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
