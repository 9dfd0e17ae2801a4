package io.journalq.server.metadata.security;

import java.util.Comparator;

/**
 * The resources that ACLs apply to.
 *
 * @param pattern {@link AclPattern#LITERAL} or {@link AclPattern#PREFIXED}
 */
public record AclResource(AclResourceType type, AclPattern pattern, String name) implements Comparable<AclResource> {
    private static final Comparator<AclResource> ORDER = Comparator.comparing(AclResource::type)
            .thenComparing(AclResource::pattern)
            .thenComparing(AclResource::name);

    @Override
    public int compareTo(AclResource other) {
        return ORDER.compare(this, other);
    }
}
