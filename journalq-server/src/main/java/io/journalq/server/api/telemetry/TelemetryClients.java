package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.memory.MemoryAccount;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * When clients last asked for their subscriptions and sent metrics, so that they do neither more often than they are to.
 * Any thread; requests of clients are minutes apart, so that one lock does.
 */
final class TelemetryClients {
    /** An estimate of what a client takes of the heap. */
    static final int CLIENT_BYTES = 160;

    /** Intervals of silence after which a client is forgotten, as in Kafka. It may then ask or send at once. */
    private static final int SILENT_INTERVALS = 3;

    private static final long NEVER = Long.MIN_VALUE / 2;

    private final MemoryAccount memory;
    private final Map<Uuid, Client> clientsById = new LinkedHashMap<>(16, 0.75f, true);

    private static final class Client {
        private long lastAskedMs = NEVER;
        private long lastSentMs = NEVER;
        private boolean mayAskAgain;
        private boolean terminating;
        private long forgetAtMs;
    }

    /** @param memory where every client is charged; without room, a client that is not known is refused */
    TelemetryClients(MemoryAccount memory) {
        this.memory = memory;
    }

    /** A client asks what it is to send. NONE, or THROTTLING_QUOTA_EXCEEDED if it asks too soon or there is no room for it. */
    synchronized ErrorCode onAsked(Uuid instanceId, int intervalMs, long nowMs) {
        Client client = client(instanceId, intervalMs, nowMs);
        if (client == null) {
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED;
        }
        long lastMs = Math.max(client.lastAskedMs, client.lastSentMs);
        if (!client.mayAskAgain && nowMs - lastMs < intervalMs) {
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED;
        }
        client.mayAskAgain = false;
        client.lastAskedMs = nowMs;
        return ErrorCode.NONE;
    }

    /**
     * A client sends metrics. NONE, THROTTLING_QUOTA_EXCEEDED if it sends too soon or there is no room for it, or
     * INVALID_REQUEST if it said that it would send no more.
     *
     * @param terminating whether these are its last
     */
    synchronized ErrorCode onSent(Uuid instanceId, int intervalMs, boolean terminating, long nowMs) {
        Client client = client(instanceId, intervalMs, nowMs);
        if (client == null) {
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED;
        }
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

    /** Null if the client is not known and there is no room for it. */
    private Client client(Uuid instanceId, int intervalMs, long nowMs) {
        forgetSilent(nowMs);
        Client client = clientsById.get(instanceId);
        if (client == null) {
            if (!memory.hasRoom(CLIENT_BYTES)) {
                return null;
            }
            client = new Client();
            clientsById.put(instanceId, client);
            memory.add(CLIENT_BYTES);
        }
        client.forgetAtMs = nowMs + (long) SILENT_INTERVALS * intervalMs;
        return client;
    }

    private void forgetSilent(long nowMs) {
        Iterator<Client> longestSilent = clientsById.values().iterator();
        while (longestSilent.hasNext() && longestSilent.next().forgetAtMs <= nowMs) {
            longestSilent.remove();
            memory.add(-CLIENT_BYTES);
        }
    }
}
