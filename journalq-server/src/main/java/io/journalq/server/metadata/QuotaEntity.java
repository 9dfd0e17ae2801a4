package io.journalq.server.metadata;

import io.journalq.common.check.Check;
import java.util.Comparator;

/**
 * Whom a quota limits: a user, a client by the name that it gives itself, or the two together (KIP-13, KIP-546). A part
 * that is there without a name stands for everybody who has no quota of his own. Immutable.
 *
 * @param user which user; null when the user does not matter
 * @param clientId which client; null when the client does not matter
 */
public record QuotaEntity(Part user, Part clientId) implements Comparable<QuotaEntity> {
    private static final Comparator<Part> PARTS =
            Comparator.nullsFirst(Comparator.comparing(Part::name, Comparator.nullsFirst(Comparator.naturalOrder())));
    private static final Comparator<QuotaEntity> ORDER =
            Comparator.comparing(QuotaEntity::user, PARTS).thenComparing(QuotaEntity::clientId, PARTS);

    public QuotaEntity {
        Check.that(user != null || clientId != null, "a quota of nobody");
    }

    /**
     * One part of who is meant.
     *
     * @param name null for everybody without a quota of his own
     */
    public record Part(String name) {
        static final Part DEFAULT = new Part(null);
    }

    @Override
    public int compareTo(QuotaEntity other) {
        return ORDER.compare(this, other);
    }
}
