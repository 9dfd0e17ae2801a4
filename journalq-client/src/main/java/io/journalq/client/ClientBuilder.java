package io.journalq.client;

import io.journalq.client.internal.network.Backoff;
import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.internal.network.HostAndPort;
import java.util.Objects;

/**
 * The settings that producer, consumer and admin share. Not thread-safe.
 *
 * @param <B> the type of the builder, so that calls can be chained
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

    /**
     * The brokers from which the client learns the cluster: {@code host:port}, separated by commas. Default {@code
     * localhost:9092}.
     *
     * @throws IllegalArgumentException if an address is not valid
     */
    public B bootstrapServers(String servers) {
        HostAndPort.parseList(servers);
        this.bootstrapServers = servers;
        return self();
    }

    /** The name of this client in logs and metrics of the broker. Default {@code journalq}. */
    public B clientId(String id) {
        this.clientId = Objects.requireNonNull(id, "clientId must not be null");
        return self();
    }

    /** The maximum time to open a connection, in milliseconds. At least 1, default 10,000. */
    public B connectTimeoutMs(int timeoutMs) {
        this.connectTimeoutMs = positive("connectTimeoutMs", timeoutMs);
        return self();
    }

    /**
     * The maximum time for the response to one request, in milliseconds. When it has passed, the client closes the
     * connection. At least 1, default 30,000.
     */
    public B requestTimeoutMs(int timeoutMs) {
        this.requestTimeoutMs = positive("requestTimeoutMs", timeoutMs);
        return self();
    }

    /**
     * The maximum duration of a call, including retries, in milliseconds. It does not apply to polls. For a send it
     * bounds how long the call waits for buffer memory and for the metadata of the topic. At least 1, default 60,000.
     */
    public B callTimeoutMs(int timeoutMs) {
        this.callTimeoutMs = positive("callTimeoutMs", timeoutMs);
        return self();
    }

    /**
     * The age after which the client refreshes the cluster metadata even if no error requires it, in milliseconds. At
     * least 1, default 300,000.
     */
    public B metadataMaxAgeMs(int ageMs) {
        this.metadataMaxAgeMs = positive("metadataMaxAgeMs", ageMs);
        return self();
    }

    /**
     * The first and the maximum delay before the client reconnects to a broker that refused a connection, in
     * milliseconds. The delay doubles with each failure. At least 1, default 50 and 1,000.
     */
    public B reconnectBackoffMs(int initialMs, int maxMs) {
        this.reconnectBackoff = backoff("reconnectBackoffMs", initialMs, maxMs);
        return self();
    }

    /**
     * The first and the maximum delay before the client retries a request, in milliseconds. The delay doubles with each
     * failure. At least 1, default 50 and 1,000.
     */
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
            throw new IllegalArgumentException(
                    name + ": the maximum delay of " + maxMs + " ms is less than the first delay");
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
            throw new IllegalArgumentException(name + " is empty; leave it out, or set a value");
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
