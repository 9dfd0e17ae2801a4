package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * When clients last asked for their subscriptions and sent metrics, so that they do neither more often than they are to.
 * Any thread; requests of clients are minutes apart, so that one lock does.
 */
final class TelemetryClients {
    /**
     * Clients remembered; of more, those that were silent for longest are forgotten, as are those that were silent for some
     * intervals. Who is forgotten may ask or send at once.
     */
    static final int MAX_CLIENTS = 16_384;

    /** Kafka's. */
    private static final int SILENT_INTERVALS = 3;

    private static final long NEVER = Long.MIN_VALUE / 2;

    private final Map<Uuid, Client> clientsById = new LinkedHashMap<>(16, 0.75f, true);

    private static final class Client {
        private long lastAskedMs = NEVER;
        private long lastSentMs = NEVER;
        private boolean mayAskAgain;
        private boolean terminating;
        private long forgetAtMs;
    }

    /** A client asks what it is to send. NONE, or THROTTLING_QUOTA_EXCEEDED when it asks too soon. */
    synchronized ErrorCode onAsked(Uuid instanceId, int intervalMs, long nowMs) {
        Client client = client(instanceId, intervalMs, nowMs);
        long lastMs = Math.max(client.lastAskedMs, client.lastSentMs);
        if (!client.mayAskAgain && nowMs - lastMs < intervalMs) {
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED;
        }
        client.mayAskAgain = false;
        client.lastAskedMs = nowMs;
        return ErrorCode.NONE;
    }

    /**
     * A client sends metrics. NONE, THROTTLING_QUOTA_EXCEEDED when it sends too soon, or INVALID_REQUEST when it said that
     * it would send no more.
     *
     * @param terminating whether these are its last
     */
    synchronized ErrorCode onSent(Uuid instanceId, int intervalMs, boolean terminating, long nowMs) {
        Client client = client(instanceId, intervalMs, nowMs);
        if (client.terminating) {
            return ErrorCode.INVALID_REQUEST;
        }
        boolean isDue = client.lastAskedMs > client.lastSentMs || nowMs - client.lastSentMs >= intervalMs;
        if (!isDue && !terminating) {
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED;
        }
        client.lastSentMs = nowMs;
        client.terminating = terminating;
        return ErrorCode.NONE;
    }

    /** What the client sent it would not have, had it asked: it may ask at once. */
    synchronized void letAsk(Uuid instanceId) {
        Client client = clientsById.get(instanceId);
        if (client != null) {
            client.mayAskAgain = true;
        }
    }

    synchronized int count() {
        return clientsById.size();
    }

    /** @param intervalMs at least 1 */
    private Client client(Uuid instanceId, int intervalMs, long nowMs) {
        Client client = clientsById.computeIfAbsent(instanceId, id -> new Client());
        client.forgetAtMs = nowMs + (long) SILENT_INTERVALS * intervalMs;
        Iterator<Client> longestSilent = clientsById.values().iterator();
        while (longestSilent.next().forgetAtMs <= nowMs || clientsById.size() > MAX_CLIENTS) {
            longestSilent.remove();
        }
        return client;
    }
}
