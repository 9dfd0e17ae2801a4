package io.journalq.server.metadata;

import io.journalq.server.metadata.QuotaEntity.Part;
import io.journalq.server.metadata.index.SortedIndex;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** The quotas of clients, by user and client id, and those of addresses. Immutable, any thread. */
public final class ClientQuotas {
    /** No quotas. */
    public static final ClientQuotas NONE = new ClientQuotas(SortedIndex.by(LimitedEntity::entity));

    private final SortedIndex<QuotaEntity, LimitedEntity> index;

    private record LimitedEntity(QuotaEntity entity, SortedMap<String, Double> limits) {}

    private ClientQuotas(SortedIndex<QuotaEntity, LimitedEntity> index) {
        this.index = index;
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
        return index.isEmpty();
    }

    /** A new map of every limit by its key, for each entity, in a fixed order. */
    public SortedMap<QuotaEntity, SortedMap<String, Double>> byEntity() {
        SortedMap<QuotaEntity, SortedMap<String, Double>> all = new TreeMap<>();
        index.forEach(one -> all.put(one.entity(), one.limits()));
        return all;
    }

    /** The limits of {@code entity} by their keys; empty if it has none. */
    SortedMap<String, Double> of(QuotaEntity entity) {
        LimitedEntity found = index.find(entity);
        return found == null ? Collections.emptySortedMap() : found.limits();
    }

    /** The most specific limit for a client; null if there is none. */
    public Applied find(String key, String user, String clientId) {
        Part[] users = {new Part(user), Part.DEFAULT, null};
        Part[] clients = {new Part(clientId), Part.DEFAULT, null};
        for (Part ofUser : users) {
            for (Part ofClient : clients) {
                if (ofUser != null || ofClient != null) {
                    Double limit = of(new QuotaEntity(ofUser, ofClient)).get(key);
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

    /** The limit for an IP address; null if there is none. */
    public Applied find(String key, String address) {
        QuotaEntity own = QuotaEntity.at(new Part(address));
        Double limit = of(own).get(key);
        if (limit == null) {
            limit = of(QuotaEntity.at(Part.DEFAULT)).get(key);
        }
        return limit == null ? null : new Applied(limit, own);
    }

    /**
     * A copy with one limit set, or removed if {@code limit} is null. Returns this object if that changes nothing.
     */
    ClientQuotas with(QuotaEntity entity, String key, Double limit) {
        SortedMap<String, Double> limits = new TreeMap<>(of(entity));
        Double before = limit == null ? limits.remove(key) : limits.put(key, limit);
        if (Objects.equals(before, limit)) {
            return this;
        }
        return new ClientQuotas(
                limits.isEmpty()
                        ? index.without(entity)
                        : index.with(new LimitedEntity(entity, Collections.unmodifiableSortedMap(limits))));
    }
}
