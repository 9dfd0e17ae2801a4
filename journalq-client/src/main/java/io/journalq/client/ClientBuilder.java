package io.journalq.client;

import io.journalq.client.network.Backoff;
import io.journalq.client.network.ClientConfig;
import io.journalq.client.network.HostAndPort;
import java.util.Objects;

/**
 * Settings that producer, consumer and admin share. Not thread-safe.
 *
 * @param <B> the builder itself, so that calls chain
 */
public abstract class ClientBuilder<B extends ClientBuilder<B>> {
    private static final int DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
    private static final int DEFAULT_REQUEST_TIMEOUT_MS = 30_000;
    private static final int DEFAULT_CALL_TIMEOUT_MS = 60_000;
    private static final int DEFAULT_METADATA_MAX_AGE_MS = 300_000;
    private static final int DEFAULT_RECONNECT_BACKOFF_MS = 50;
    private static final int DEFAULT_RECONNECT_BACKOFF_MAX_MS = 1_000;
    private static final int DEFAULT_RETRY_BACKOFF_MS = 50;
    private static final int DEFAULT_RETRY_BACKOFF_MAX_MS = 1_000;

    private String bootstrapServers = "localhost:9092";
    private String clientId = "journalq";
    private int connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS;
    private int requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS;
    private int callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS;
    private int metadataMaxAgeMs = DEFAULT_METADATA_MAX_AGE_MS;
    private Backoff reconnectBackoff = new Backoff(DEFAULT_RECONNECT_BACKOFF_MS, DEFAULT_RECONNECT_BACKOFF_MAX_MS);
    private Backoff retryBackoff = new Backoff(DEFAULT_RETRY_BACKOFF_MS, DEFAULT_RETRY_BACKOFF_MAX_MS);

    ClientBuilder() {}

    abstract B self();

    /** Brokers to learn the cluster from: {@code host:port}, separated by commas. Default {@code localhost:9092}. */
    public B bootstrapServers(String servers) {
        HostAndPort.parseList(servers);
        this.bootstrapServers = servers;
        return self();
    }

    /** The name under which the broker logs and counts this client. Default {@code journalq}. */
    public B clientId(String id) {
        this.clientId = Objects.requireNonNull(id, "a client id is not null");
        return self();
    }

    /** How long a connection may take to open, in milliseconds. Default 10,000. */
    public B connectTimeoutMs(int timeoutMs) {
        this.connectTimeoutMs = positive("connectTimeoutMs", timeoutMs);
        return self();
    }

    /** How long a broker may take to answer one request before the connection is given up. Default 30,000 ms. */
    public B requestTimeoutMs(int timeoutMs) {
        this.requestTimeoutMs = positive("requestTimeoutMs", timeoutMs);
        return self();
    }

    /**
     * How long a call other than a send or a poll may take in all, retries included; for a send, how long it may wait
     * for a free place in the buffer and for the topic's metadata. Default 60,000 ms.
     */
    public B callTimeoutMs(int timeoutMs) {
        this.callTimeoutMs = positive("callTimeoutMs", timeoutMs);
        return self();
    }

    /** Age at which what is known of the cluster is asked for again without need. Default 300,000 ms. */
    public B metadataMaxAgeMs(int ageMs) {
        this.metadataMaxAgeMs = positive("metadataMaxAgeMs", ageMs);
        return self();
    }

    /** First and longest wait before connecting again to a broker that refused. Default 50 and 1,000 ms. */
    public B reconnectBackoffMs(int initialMs, int maxMs) {
        this.reconnectBackoff = backoff("reconnectBackoffMs", initialMs, maxMs);
        return self();
    }

    /** First and longest wait before a request is tried again. Default 50 and 1,000 ms. */
    public B retryBackoffMs(int initialMs, int maxMs) {
        this.retryBackoff = backoff("retryBackoffMs", initialMs, maxMs);
        return self();
    }

    final ClientConfig clientConfig() {
        return new ClientConfig(
                HostAndPort.parseList(bootstrapServers),
                clientId,
                connectTimeoutMs,
                requestTimeoutMs,
                callTimeoutMs,
                metadataMaxAgeMs,
                reconnectBackoff,
                retryBackoff);
    }

    private static Backoff backoff(String name, int initialMs, int maxMs) {
        positive(name, initialMs);
        if (maxMs < initialMs) {
            throw new IllegalArgumentException(name + ": the longest wait " + maxMs + " ms is below the first");
        }
        return new Backoff(initialMs, maxMs);
    }

    static int positive(String name, int value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + " is " + value + "; use 1 or more");
        }
        return value;
    }

    static String notEmpty(String name, String value) {
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(name + " is empty; leave it out, or give it a value");
        }
        return value;
    }

    static int notNegative(String name, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " is " + value + "; use 0 or more");
        }
        return value;
    }
}
