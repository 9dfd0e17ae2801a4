package io.journalq.server.metadata.security;

/**
 * What the ACLs say about an operation of a client on a resource.
 *
 * @param verdict the result
 * @param acl the entry that decides; null if none does
 */
public record AclDecision(Verdict verdict, Acl acl) {
    /** Nothing applies to the resource. */
    static final AclDecision NO_ACL = new AclDecision(Verdict.NO_ACL, null);

    /** Entries apply to the resource, but none allows the operation. */
    static final AclDecision NOT_ALLOWED = new AclDecision(Verdict.NOT_ALLOWED, null);

    /** The result of a decision. */
    public enum Verdict {
        /** An entry allows the operation, and none denies it. */
        ALLOWED,
        /** An entry denies the operation. */
        DENIED,
        /** Entries apply to the resource, but none of them is about this operation of this client. */
        NOT_ALLOWED,
        /** No entry applies to the resource. The broker's default decides. */
        NO_ACL
    }
}
