package io.journalq.server.network;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The counters of the network layer. Any thread. */
public final class NetworkCounters {
    final AtomicInteger openConnections = new AtomicInteger();
    final LongAdder acceptedConnections = new LongAdder();
    final LongAdder refusedConnections = new LongAdder();
    final LongAdder acceptFailures = new LongAdder();
    final LongAdder connectionsOverTotal = new LongAdder();
    final LongAdder connectionsOverAddress = new LongAdder();
    final LongAdder idleConnections = new LongAdder();
    final LongAdder stalledConnections = new LongAdder();
    final LongAdder requests = new LongAdder();
    final LongAdder receivedBytes = new LongAdder();
    final LongAdder sentBytes = new LongAdder();
    final LongAdder suspensions = new LongAdder();
    final LongAdder pausedMs = new LongAdder();
    final LongAdder readYields = new LongAdder();
    final LongAdder acceptPauses = new LongAdder();
    final LongAdder slowParts = new LongAdder();

    public int openConnections() {
        return openConnections.get();
    }

    public long acceptedConnections() {
        return acceptedConnections.sum();
    }

    /** Connections closed because of invalid requests, or on arrival because there were too many. */
    public long refusedConnections() {
        return refusedConnections.sum();
    }

    /** Number of failed accept calls, for example because too many files are open. */
    public long acceptFailures() {
        return acceptFailures.sum();
    }

    /** Connections closed on arrival because of the broker's limit. */
    public long connectionsOverTotal() {
        return connectionsOverTotal.sum();
    }

    /** Connections closed on arrival because of the limit of their address. */
    public long connectionsOverAddress() {
        return connectionsOverAddress.sum();
    }

    /** Connections closed because nothing was completed on them for too long. */
    public long idleConnections() {
        return idleConnections.sum();
    }

    /** Connections closed because they held memory that others waited for, and transferred too little. */
    public long stalledConnections() {
        return stalledConnections.sum();
    }

    /** Number of times that a connection used up its share of an iteration and yielded to others. */
    public long readYields() {
        return readYields.sum();
    }

    /** Number of times that a listener paused because too many connections arrived in a short time. */
    public long acceptPauses() {
        return acceptPauses.sum();
    }

    /**
     * Number of times that so little of a request arrived that the next read waits for the rest, or for 16 KiB of it.
     */
    public long slowParts() {
        return slowParts.sum();
    }

    public long requests() {
        return requests.sum();
    }

    /** Bytes of complete requests, without their length fields. */
    public long receivedBytes() {
        return receivedBytes.sum();
    }

    /** Bytes of responses passed to the sockets. */
    public long sentBytes() {
        return sentBytes.sum();
    }

    /** Number of times that a socket was no longer read because too many requests had no response. */
    public long suspensions() {
        return suspensions.sum();
    }

    /** Total time for which connections were not read because their clients exceeded quotas. */
    public long pausedMs() {
        return pausedMs.sum();
    }
}
