package io.journalq.server.network;

import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The counters of the network layer. Any thread. */
public final class NetworkCounters {
    final AtomicInteger openConnections = new AtomicInteger();
    final AtomicInteger unauthenticatedConnections = new AtomicInteger();
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

    final LongAdder authentications = new LongAdder();
    private final Map<AuthenticationFailure, LongAdder> authenticationFailures =
            new EnumMap<>(AuthenticationFailure.class);

    final LongAdder tlsHandshakes = new LongAdder();
    final LongAdder tlsReloads = new LongAdder();
    final LongAdder tlsReloadFailures = new LongAdder();
    /** By the files of the certificate. */
    private final Map<Object, Instant> tlsExpiries = new ConcurrentHashMap<>();

    private final Map<TlsFailure, LongAdder> tlsFailures = new EnumMap<>(TlsFailure.class);

    public NetworkCounters() {
        for (TlsFailure failure : TlsFailure.values()) {
            tlsFailures.put(failure, new LongAdder());
        }
        for (AuthenticationFailure failure : AuthenticationFailure.values()) {
            authenticationFailures.put(failure, new LongAdder());
        }
    }

    public int openConnections() {
        return openConnections.get();
    }

    /** Open connections whose clients have not authenticated yet, on listeners that require it. */
    public int unauthenticatedConnections() {
        return unauthenticatedConnections.get();
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

    /** Number of times that a client has authenticated by SASL, for the first time or again. */
    public long authentications() {
        return authentications.sum();
    }

    /** Number of clients that were disconnected because they did not authenticate, by reason. */
    public long authenticationFailures(AuthenticationFailure failure) {
        return authenticationFailures.get(failure).sum();
    }

    void onAuthenticationFailure(AuthenticationFailure failure) {
        authenticationFailures.get(failure).increment();
    }

    /** Number of completed TLS handshakes. */
    public long tlsHandshakes() {
        return tlsHandshakes.sum();
    }

    /** A TLS handshake has completed. */
    public void onTlsHandshake() {
        tlsHandshakes.increment();
    }

    /** Number of connections that TLS ended, by reason. */
    public long tlsFailures(TlsFailure failure) {
        return tlsFailures.get(failure).sum();
    }

    /** TLS has ended a connection. */
    public void onTlsFailure(TlsFailure failure) {
        tlsFailures.get(failure).increment();
    }

    /** Number of times that changed keys or certificates came into use. */
    public long tlsReloads() {
        return tlsReloads.sum();
    }

    /** Number of times that changed files of keys or certificates could not be used. */
    public long tlsReloadFailures() {
        return tlsReloadFailures.sum();
    }

    /** When the first of the broker's certificates expires, in seconds since 1970; 0 without TLS. */
    public long tlsExpirySeconds() {
        return tlsExpiries.values().stream()
                .mapToLong(Instant::getEpochSecond)
                .min()
                .orElse(0);
    }

    /**
     * A certificate is in use.
     *
     * @param files which contain it
     */
    public void onTlsContext(Object files, Instant expiry) {
        tlsExpiries.put(files, expiry);
    }

    /** Changed files are in use. */
    public void onTlsReload(Object files, Instant expiry) {
        tlsReloads.increment();
        tlsExpiries.put(files, expiry);
    }

    /** Changed files cannot be used. */
    public void onTlsReloadFailure() {
        tlsReloadFailures.increment();
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
