package io.journalq.server.metadata;

import io.journalq.common.check.Check;
import java.util.Comparator;

/**
 * The clients that a quota limits: those of a user, those with a client id, or those with both (KIP-13, KIP-546), or
 * those at an IP address (KIP-612). A part without a name is the default for everyone without a specific quota.
 * Immutable.
 *
 * @param user the user; null if the quota does not depend on the user
 * @param clientId the client id; null if the quota does not depend on it
 * @param address the IP address as text; null if the quota does not depend on it. Not together with the others
 */
public record QuotaEntity(Part user, Part clientId, Part address) implements Comparable<QuotaEntity> {
    private static final Comparator<Part> PARTS =
            Comparator.nullsFirst(Comparator.comparing(Part::name, Comparator.nullsFirst(Comparator.naturalOrder())));
    private static final Comparator<QuotaEntity> ORDER = Comparator.comparing(QuotaEntity::user, PARTS)
            .thenComparing(QuotaEntity::clientId, PARTS)
            .thenComparing(QuotaEntity::address, PARTS);

    public QuotaEntity {
        Check.that(
                address == null ? user != null || clientId != null : user == null && clientId == null,
                "a quota needs a user or a client id, or else an address");
    }

    /** The clients of a user, those with a client id, or those with both. */
    public QuotaEntity(Part user, Part clientId) {
        this(user, clientId, null);
    }

    /** The clients at an address. */
    public static QuotaEntity at(Part address) {
        return new QuotaEntity(null, null, address);
    }

    /**
     * One part of an entity.
     *
     * @param name null for everyone without a specific quota
     */
    public record Part(String name) {
        static final Part DEFAULT = new Part(null);
    }

    @Override
    public int compareTo(QuotaEntity other) {
        return ORDER.compare(this, other);
    }
}
