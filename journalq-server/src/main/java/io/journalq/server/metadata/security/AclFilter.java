package io.journalq.server.metadata.security;

/**
 * Selects ACLs.
 *
 * <p>Source: {@code AclBindingFilter} of Kafka 4.3.
 *
 * @param type {@link AclResourceType#ANY} for all
 * @param pattern {@link AclPattern#ANY} for all; {@link AclPattern#MATCH} for those that apply to the resource of that
 *     name
 * @param name null for all
 * @param principal null for all
 * @param host null for all
 * @param operation {@link AclOperation#ANY} for all
 * @param permission {@link AclPermission#ANY} for all
 */
public record AclFilter(
        AclResourceType type,
        AclPattern pattern,
        String name,
        String principal,
        String host,
        AclOperation operation,
        AclPermission permission) {
    /** Selects every ACL. */
    public static final AclFilter EVERY_ACL =
            new AclFilter(AclResourceType.ANY, AclPattern.ANY, null, null, null, AclOperation.ANY, AclPermission.ANY);

    /** Whether this filter selects ACLs of these resources. */
    boolean selects(AclResource resource) {
        if (type != AclResourceType.ANY && type != resource.type()) {
            return false;
        }
        if (pattern.isSpecific() && pattern != resource.pattern()) {
            return false;
        }
        if (name == null || name.equals(resource.name())) {
            return true;
        }
        return pattern == AclPattern.MATCH
                && (resource.pattern() == AclPattern.PREFIXED
                        ? name.startsWith(resource.name())
                        : resource.name().equals(AclPattern.EVERY_NAME));
    }

    /** Whether this filter selects an ACL whose resources it selects. */
    boolean selects(Acl acl) {
        return (principal == null || principal.equals(acl.principal()))
                && (host == null || host.equals(acl.host()))
                && (operation == AclOperation.ANY || operation == acl.operation())
                && (permission == AclPermission.ANY || permission == acl.permission());
    }
}
