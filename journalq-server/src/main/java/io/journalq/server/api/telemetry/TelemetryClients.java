package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.memory.MemoryAccount;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The times at which clients last requested their subscriptions and pushed metrics, to enforce the minimum intervals.
 * Any thread. One lock is enough, because the requests of a client are minutes apart.
 */
final class TelemetryClients {
    /** Estimated heap of a client. */
    static final int CLIENT_BYTES = 160;

    /**
     * Number of intervals without a request after which a client is forgotten, as in Kafka. It may then send any
     * request at once.
     */
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

    /** @param memory is charged for every client; without room, an unknown client is refused */
    TelemetryClients(MemoryAccount memory) {
        this.memory = memory;
    }

    /**
     * A client requests its subscriptions. Returns NONE, or THROTTLING_QUOTA_EXCEEDED if the request is too early or
     * there is no room for the client.
     */
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
     * A client pushes metrics. Returns NONE, THROTTLING_QUOTA_EXCEEDED if the push is too early or there is no room for
     * the client, or INVALID_REQUEST if the client has announced its last push before.
     *
     * @param terminating whether this is its last push
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

    /** Allows the client to request its subscriptions at once, because its push shows that it does not know them. */
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
