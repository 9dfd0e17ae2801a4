package io.journalq.chaos.cluster;

import java.util.List;
import java.util.Locale;
import java.util.Random;

/** A fault that happens to one broker of a cluster. */
public enum ClusterFault {
    /** SIGKILL, and a start up to 4 s later. */
    KILL,
    /** SIGSTOP for up to 6 s: longer or shorter than the time after which a silent broker is fenced. */
    FREEZE,
    /** SIGTERM, and a start up to 2 s after the broker has stopped. */
    STOP,
    /** SIGTERM and a start of each broker, one after the other. */
    ROLL,
    /** SIGKILL, and a start with an empty data directory. */
    WIPE,
    /** SIGKILL for good. A broker with another id takes over the replicas, and the dead one leaves the cluster. */
    REPLACE,
    /** SIGKILL of all brokers but one within a second, and a start of these up to 4 s later. */
    MAJORITY,
    /** SIGKILL of all brokers within a second, and a start of all of them. */
    BLACKOUT,
    /** The network between a broker and the others is cut in both directions or in one, with or without the clients. */
    CUT,
    /** Everything between a broker and all others arrives up to 300 ms late. */
    DELAY,
    /** All connections of a broker are reset, up to five times. */
    RESET;

    /** Whether connections have to pass proxies. */
    boolean needsProxies() {
        return this == CUT || this == DELAY || this == RESET;
    }

    /** Draws one of {@code enabled}. */
    static ClusterFault draw(List<ClusterFault> enabled, Random random) {
        return enabled.get(random.nextInt(enabled.size()));
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
