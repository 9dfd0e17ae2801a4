package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;
import static io.journalq.client.internal.check.Arguments.positiveMillis;

import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.client.internal.network.TlsClient;
import io.journalq.client.security.SaslConfig;
import io.journalq.client.security.TlsConfig;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The settings that producer, consumer and admin share. Not thread-safe.
 *
 * <p>Durations have a resolution of 1 ms, unless their setting says otherwise, and are rounded up. They can be at most
 * {@link Integer#MAX_VALUE} ms (24 days).
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
    private TlsConfig tls;
    private SaslConfig sasl;
    private String clientId = "journalq";
    private int connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS;
    private int requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS;
    private int callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS;
    private int metadataMaxAgeMs = DEFAULT_METADATA_MAX_AGE_MS;
    private ClientConfig.Backoff reconnectBackoff =
            new ClientConfig.Backoff(DEFAULT_RECONNECT_BACKOFF_MS, DEFAULT_RECONNECT_BACKOFF_MAX_MS);
    private ClientConfig.Backoff retryBackoff =
            new ClientConfig.Backoff(DEFAULT_RETRY_BACKOFF_MS, DEFAULT_RETRY_BACKOFF_MAX_MS);

    ClientBuilder() {}

    abstract B self();

    /** Copies the settings of the connections from another builder. */
    B like(ClientBuilder<?> other) {
        bootstrapServers = other.bootstrapServers;
        tls = other.tls;
        sasl = other.sasl;
        clientId = other.clientId;
        connectTimeoutMs = other.connectTimeoutMs;
        requestTimeoutMs = other.requestTimeoutMs;
        callTimeoutMs = other.callTimeoutMs;
        metadataMaxAgeMs = other.metadataMaxAgeMs;
        reconnectBackoff = other.reconnectBackoff;
        retryBackoff = other.retryBackoff;
        return self();
    }

    /**
     * The brokers from which the client learns the cluster: {@code host:port}, separated by commas. Default {@code
     * localhost:9092}.
     *
     * @throws IllegalArgumentException if an address is not valid
     */
    public B bootstrapServers(String servers) {
        HostAndPort.parseList(notNull(servers, "bootstrapServers"));
        this.bootstrapServers = servers;
        return self();
    }

    /**
     * Encrypts the connections, and authenticates the client if the configuration has a certificate. For listeners of
     * the security protocols SSL and SASL_SSL. By default, connections are not encrypted.
     */
    public B tls(TlsConfig config) {
        this.tls = notNull(config, "tls");
        return self();
    }

    /**
     * Logs in with a user and a password, or with a token. For listeners of the security protocols SASL_SSL, together with {@link #tls},
     * and SASL_PLAINTEXT. By default, the client does not log in.
     */
    public B sasl(SaslConfig config) {
        this.sasl = notNull(config, "sasl");
        return self();
    }

    /** The name of this client in its log, and in logs and metrics of the broker. Default {@code journalq}. */
    public B clientId(String id) {
        this.clientId = notNull(id, "clientId");
        return self();
    }

    /** The maximum time to open a connection. More than zero, default 10 s. */
    public B connectTimeout(Duration timeout) {
        this.connectTimeoutMs = positiveMillis(timeout, "connectTimeout");
        return self();
    }

    /**
     * The maximum time for the response to one request. When it has passed, the client closes the connection. More than
     * zero, default 30 s.
     */
    public B requestTimeout(Duration timeout) {
        this.requestTimeoutMs = positiveMillis(timeout, "requestTimeout");
        return self();
    }

    /**
     * The maximum duration of a call, including retries. It does not apply to polls. For a send it bounds how long the
     * call waits for buffer memory and for the metadata of the topic. More than zero, default 60 s.
     */
    public B callTimeout(Duration timeout) {
        this.callTimeoutMs = positiveMillis(timeout, "callTimeout");
        return self();
    }

    /**
     * The age after which the client refreshes the cluster metadata even if no error requires it. More than zero,
     * default 5 min.
     */
    public B metadataMaxAge(Duration age) {
        this.metadataMaxAgeMs = positiveMillis(age, "metadataMaxAge");
        return self();
    }

    /**
     * The first and the maximum delay before the client reconnects to a broker that refused a connection. The delay
     * doubles with each failure. More than zero, default 50 ms and 1 s.
     */
    public B reconnectBackoff(Duration initial, Duration max) {
        this.reconnectBackoff = backoff("reconnectBackoff", initial, max);
        return self();
    }

    /**
     * The first and the maximum delay before the client retries a request. The delay doubles with each failure. More
     * than zero, default 50 ms and 1 s.
     */
    public B retryBackoff(Duration initial, Duration max) {
        this.retryBackoff = backoff("retryBackoff", initial, max);
        return self();
    }

    final long callTimeoutNanos() {
        return TimeUnit.MILLISECONDS.toNanos(callTimeoutMs);
    }

    /** Returns the settings for a client of this class. */
    final ClientConfig clientConfig(Class<?> api) {
        if (sasl != null && sasl.isPasswordSent() && tls == null) {
            throw new IllegalArgumentException("sasl: " + sasl.mechanism()
                    + " sends the password or the token, so that connections must be encrypted; set tls, or use"
                    + " SCRAM");
        }
        return new ClientConfig(
                api,
                HostAndPort.parseList(bootstrapServers),
                tls == null ? null : new TlsClient(tls),
                sasl,
                clientId,
                connectTimeoutMs,
                requestTimeoutMs,
                callTimeoutMs,
                metadataMaxAgeMs,
                reconnectBackoff,
                retryBackoff);
    }

    private static ClientConfig.Backoff backoff(String name, Duration initial, Duration max) {
        int initialMs = positiveMillis(initial, name);
        int maxMs = positiveMillis(max, name);
        if (maxMs < initialMs) {
            throw new IllegalArgumentException(
                    name + ": the maximum delay of " + maxMs + " ms is less than the first delay");
        }
        return new ClientConfig.Backoff(initialMs, maxMs);
    }
}
