package io.journalq.client.internal.network;

import io.journalq.client.security.SaslConfig;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The settings that producer, consumer and admin share. Immutable. {@link io.journalq.client.ClientBuilder} validates
 * and documents them.
 *
 * @param api the class that the application uses; its name is the name of the logger
 * @param tls encrypts the connections; null if they are not encrypted
 * @param sasl how the client logs in; null if it does not
 */
public record ClientConfig(
        Class<?> api,
        List<HostAndPort> bootstrapServers,
        TlsClient tls,
        SaslConfig sasl,
        String clientId,
        int connectTimeoutMs,
        int requestTimeoutMs,
        int callTimeoutMs,
        int metadataMaxAgeMs,
        Backoff reconnectBackoff,
        Backoff retryBackoff) {
    public ClientConfig {
        bootstrapServers = List.copyOf(bootstrapServers);
    }

    /**
     * The delay before a retry. It doubles with each failure, from {@code initialMs} to {@code maxMs}. A random
     * deviation of up to 20 % keeps clients from retrying at the same time. Immutable (KIP-580).
     */
    public record Backoff(long initialMs, long maxMs) {
        private static final int MAX_DOUBLINGS = 30;
        private static final double JITTER = 0.2;

        /**
         * Returns the delay before the next attempt, in milliseconds.
         *
         * @param failures the number of failed attempts, at least 1
         */
        public long delayMs(int failures) {
            long doubled = initialMs << Math.min(MAX_DOUBLINGS, Math.max(0, failures - 1));
            double jitter = 1 + JITTER * (2 * ThreadLocalRandom.current().nextDouble() - 1);
            return (long) (Math.min(maxMs, doubled) * jitter);
        }
    }
}
