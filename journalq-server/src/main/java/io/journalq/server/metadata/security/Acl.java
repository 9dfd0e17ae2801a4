package io.journalq.server.metadata.security;

import java.util.Comparator;

/**
 * One access control list entry: allows or denies an operation on resources to a principal.
 *
 * @param principal {@code User:name}, or {@link #EVERY_USER}
 * @param host the IP address of the client, or {@link #EVERY_HOST}
 * @param operation not {@link AclOperation#ANY}
 * @param permission not {@link AclPermission#ANY}
 */
public record Acl(AclResource resource, String principal, String host, AclOperation operation, AclPermission permission)
        implements Comparable<Acl> {
    /** All principals. */
    public static final String EVERY_USER = "User:*";

    /** All hosts. */
    public static final String EVERY_HOST = "*";

    /** Maximum length of the name of a resource, of a principal and of a host, in characters. */
    public static final int MAX_TEXT_LENGTH = 1_024;

    /** The order of an ACL among those of its resource. */
    private static final Comparator<Acl> ORDER = Comparator.comparing(Acl::resource)
            .thenComparing(Acl::principal)
            .thenComparing(Acl::host)
            .thenComparing(Acl::operation)
            .thenComparing(Acl::permission);

    @Override
    public int compareTo(Acl other) {
        return ORDER.compare(this, other);
    }

    /** Why there cannot be such an ACL; null if there can. */
    public String problem() {
        if (resource.name().isEmpty()) {
            return "Invalid empty resource name";
        }
        if (resource.name().length() > MAX_TEXT_LENGTH
                || principal.length() > MAX_TEXT_LENGTH
                || host.length() > MAX_TEXT_LENGTH) {
            return "the name of a resource, a principal and a host must each have at most " + MAX_TEXT_LENGTH
                    + " characters";
        }
        if (resource.type() == AclResourceType.CLUSTER && !resource.name().equals(AclResourceType.CLUSTER_NAME)) {
            return "The only valid name for the CLUSTER resource is " + AclResourceType.CLUSTER_NAME;
        }
        if (resource.type() == AclResourceType.ANY) {
            return "Invalid resourceType ANY";
        }
        if (!resource.pattern().isSpecific()) {
            return "Invalid patternType " + resource.pattern();
        }
        if (!operation.isSpecific()) {
            return "Invalid operation ANY";
        }
        if (!permission.isSpecific()) {
            return "Invalid permissionType ANY";
        }
        int separator = principal.indexOf(':');
        return separator < 1 || separator == principal.length() - 1
                ? "Could not parse principal from `" + principal + "`: it must have the form User:name"
                : host.isEmpty() ? "the host must be an IP address or " + EVERY_HOST : null;
    }

    /** Whether this entry is about a client. */
    boolean names(String client, String clientHost) {
        return (principal.equals(client) || principal.equals(EVERY_USER))
                && (host.equals(EVERY_HOST) || host.equals(clientHost));
    }

    /**
     * Whether this entry covers an operation. An entry that allows READ, WRITE, DELETE or ALTER also allows DESCRIBE,
     * and one that allows ALTER_CONFIGS also allows DESCRIBE_CONFIGS. An entry that denies covers only what it names.
     */
    public boolean covers(AclOperation wanted) {
        if (operation == AclOperation.ALL || operation == wanted) {
            return true;
        }
        if (permission == AclPermission.DENY) {
            return false;
        }
        return switch (wanted) {
            case DESCRIBE ->
                operation == AclOperation.READ
                        || operation == AclOperation.WRITE
                        || operation == AclOperation.DELETE
                        || operation == AclOperation.ALTER;
            case DESCRIBE_CONFIGS -> operation == AclOperation.ALTER_CONFIGS;
            default -> false;
        };
    }

    /** One line for an operator, in the words of Kafka's tools. */
    @Override
    public String toString() {
        return permission + " " + operation + " on " + resource.type() + " '" + resource.name() + "'"
                + (resource.pattern() == AclPattern.PREFIXED ? " (prefix)" : "") + " to " + principal
                + (host.equals(EVERY_HOST) ? "" : " from " + host);
    }
}
