package io.journalq.server.metadata;

import io.journalq.server.metadata.QuotaEntity.Part;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** What clients may do at most, by whom it limits. Immutable, any thread. */
public final class ClientQuotas {
    /** Nobody is limited. */
    public static final ClientQuotas NONE = new ClientQuotas(Collections.emptySortedMap());

    private final SortedMap<QuotaEntity, SortedMap<String, Double>> limitsByEntity;

    private ClientQuotas(SortedMap<QuotaEntity, SortedMap<String, Double>> limitsByEntity) {
        this.limitsByEntity = Collections.unmodifiableSortedMap(limitsByEntity);
    }

    /**
     * A quota that holds for a client, and what it is counted for: clients that a quota names by default, or does not
     * tell apart, have it each or together as the protocol says.
     *
     * @param limit in the unit of its key
     * @param countedFor the user and the client that share it, as far as the quota tells them apart
     */
    public record Applied(double limit, QuotaEntity countedFor) {}

    /** Whether nobody is limited. */
    public boolean isEmpty() {
        return limitsByEntity.isEmpty();
    }

    /** Every limit by its key, by whom it limits, in a fixed order. */
    public SortedMap<QuotaEntity, SortedMap<String, Double>> byEntity() {
        return limitsByEntity;
    }

    /** The limits of {@code entity} by their keys; empty when it has none. */
    Map<String, Double> of(QuotaEntity entity) {
        return limitsByEntity.getOrDefault(entity, Collections.emptySortedMap());
    }

    /** The limit that is most precise about who asks; null when there is none. */
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

    /** These with one limit set, or gone when {@code limit} is null. */
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
