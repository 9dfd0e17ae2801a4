package io.journalq.server.metadata;

import io.journalq.server.metadata.QuotaEntity.Part;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The quotas of clients, by user and client id. Immutable, any thread. */
public final class ClientQuotas {
    /** No quotas. */
    public static final ClientQuotas NONE = new ClientQuotas(Collections.emptySortedMap());

    private final SortedMap<QuotaEntity, SortedMap<String, Double>> limitsByEntity;

    private ClientQuotas(SortedMap<QuotaEntity, SortedMap<String, Double>> limitsByEntity) {
        this.limitsByEntity = Collections.unmodifiableSortedMap(limitsByEntity);
    }

    /**
     * The quota that applies to a client, and the entity that shares it. The protocol defines whether clients share a
     * default quota or each have their own.
     *
     * @param limit in the unit of its key
     * @param countedFor the user and the client that share it, as far as the quota distinguishes them
     */
    public record Applied(double limit, QuotaEntity countedFor) {}

    /** Whether there are no quotas. */
    public boolean isEmpty() {
        return limitsByEntity.isEmpty();
    }

    /** Every limit by its key, for each entity, in a fixed order. */
    public SortedMap<QuotaEntity, SortedMap<String, Double>> byEntity() {
        return limitsByEntity;
    }

    /** The limits of {@code entity} by their keys; empty if it has none. */
    Map<String, Double> of(QuotaEntity entity) {
        return limitsByEntity.getOrDefault(entity, Collections.emptySortedMap());
    }

    /** The most specific limit for a client; null if there is none. */
    public Applied find(String key, String user, String clientId) {
        Part[] users = {new Part(user), Part.DEFAULT, null};
        Part[] clients = {new Part(clientId), Part.DEFAULT, null};
        for (Part ofUser : users) {
            for (Part ofClient : clients) {
                if (ofUser != null || ofClient != null) {
                    Double limit = limit(new QuotaEntity(ofUser, ofClient), key);
                    if (limit != null) {
                        Part countedUser = ofUser == null ? null : users[0];
                        Part countedClient = ofClient == null ? null : clients[0];
                        return new Applied(limit, new QuotaEntity(countedUser, countedClient));
                    }
                }
            }
        }
        return null;
    }

    /** A copy with one limit set, or removed if {@code limit} is null. */
    ClientQuotas with(QuotaEntity entity, String key, Double limit) {
        SortedMap<QuotaEntity, SortedMap<String, Double>> changed = new TreeMap<>(limitsByEntity);
        SortedMap<String, Double> limits = new TreeMap<>(changed.getOrDefault(entity, Collections.emptySortedMap()));
        if (limit == null) {
            limits.remove(key);
        } else {
            limits.put(key, limit);
        }
        if (limits.isEmpty()) {
            changed.remove(entity);
        } else {
            changed.put(entity, Collections.unmodifiableSortedMap(limits));
        }
        return new ClientQuotas(changed);
    }

    private Double limit(QuotaEntity entity, String key) {
        Map<String, Double> limits = limitsByEntity.get(entity);
        return limits == null ? null : limits.get(key);
    }
}
