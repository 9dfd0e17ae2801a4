package io.journalq.client.internal.network;

import java.util.List;

/**
 * The settings that producer, consumer and admin share. Immutable. {@link io.journalq.client.ClientBuilder} validates
 * and documents them.
 *
 * @param api the class that the application uses; its name is the name of the logger
 */
public record ClientConfig(
        Class<?> api,
        List<HostAndPort> bootstrapServers,
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
}
