package io.journalq.server.network;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What the network layer counts. Any thread. */
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
    final LongAdder turnsEnded = new LongAdder();
    final LongAdder acceptRests = new LongAdder();
    final LongAdder slowParts = new LongAdder();

    public int openConnections() {
        return openConnections.get();
    }

    public long acceptedConnections() {
        return acceptedConnections.sum();
    }

    /** Connections closed for what they sent, or on arrival because there were too many. */
    public long refusedConnections() {
        return refusedConnections.sum();
    }

    /** How often the system refused a listener a connection, as when too many files are open. */
    public long acceptFailures() {
        return acceptFailures.sum();
    }

    /** Connections closed on arrival, as the broker had as many as it takes. */
    public long connectionsOverTotal() {
        return connectionsOverTotal.sum();
    }

    /** Connections closed on arrival, as their address had as many as it may have. */
    public long connectionsOverAddress() {
        return connectionsOverAddress.sum();
    }

    /** Connections closed because nothing was completed on them for too long. */
    public long idleConnections() {
        return idleConnections.sum();
    }

    /** Connections closed because they held memory for which others waited, and hardly moved. */
    public long stalledConnections() {
        return stalledConnections.sum();
    }

    /** How often a connection was left unread as it had had its share of an iteration, while others had theirs. */
    public long turnsEnded() {
        return turnsEnded.sum();
    }

    /** How often a listener rested as too many connections came in too short a time. */
    public long acceptRests() {
        return acceptRests.sum();
    }

    /** How often so little of a request came that its socket was left unread until the rest, or 16 KiB of it, is there. */
    public long slowParts() {
        return slowParts.sum();
    }

    public long requests() {
        return requests.sum();
    }

    /** Bytes of whole requests, without their length fields. */
    public long receivedBytes() {
        return receivedBytes.sum();
    }

    /** Bytes of answers handed to the sockets. */
    public long sentBytes() {
        return sentBytes.sum();
    }

    /** How often a connection was left unread because too much of it was unanswered. */
    public long suspensions() {
        return suspensions.sum();
    }

    /** How long connections were left unread because their clients used more than they may, all together. */
    public long pausedMs() {
        return pausedMs.sum();
    }
}
