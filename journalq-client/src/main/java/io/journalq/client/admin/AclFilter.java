package io.journalq.client.admin;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.PatternType;
import io.journalq.client.admin.AclBinding.Permission;
import io.journalq.client.admin.AclBinding.ResourceType;

/**
 * Selects ACLs: those that have every property that is not null. Immutable.
 *
 * @param match how {@code resourceName} is compared; not null
 * @param resourceName null for all names
 */
public record AclFilter(
        ResourceType resourceType,
        Match match,
        String resourceName,
        String principal,
        String host,
        Operation operation,
        Permission permission) {
    /** Selects every ACL. */
    public static final AclFilter EVERY_ACL = new AclFilter(null, Match.ANY, null, null, null, null, null);

    /** How names are compared, with its number in the protocol. */
    public enum Match {
        /** ACLs with this name, literal or as a prefix. */
        ANY(1),
        /** ACLs that apply to the resource of this name: its own, those of its prefixes, and those of {@code *}. */
        APPLICABLE(2),
        /** ACLs with this literal name. */
        LITERAL(3),
        /** ACLs with this prefix. */
        PREFIXED(4);

        private final byte code;

        Match(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }

        /** Compares with names of this pattern only. */
        public static Match of(PatternType pattern) {
            return pattern == PatternType.PREFIXED ? PREFIXED : LITERAL;
        }
    }

    public AclFilter {
        notNull(match, "match");
    }

    /** Selects the ACLs that apply to a resource, whatever their principal and operation. */
    public static AclFilter applicableTo(ResourceType type, String name) {
        return new AclFilter(type, Match.APPLICABLE, name, null, null, null, null);
    }

    /** Selects this ACL alone. */
    public static AclFilter only(AclBinding acl) {
        return new AclFilter(
                acl.resourceType(),
                Match.of(acl.patternType()),
                acl.resourceName(),
                acl.principal(),
                acl.host(),
                acl.operation(),
                acl.permission());
    }
}
