package io.journalq.client.network;

import java.util.List;

/**
 * What producer, consumer and admin have in common. Immutable; made by {@link io.journalq.client.ClientBuilder}, which
 * documents and checks each value.
 */
public record ClientConfig(
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
