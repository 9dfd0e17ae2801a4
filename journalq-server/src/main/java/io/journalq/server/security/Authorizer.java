package io.journalq.server.security;

import io.journalq.server.metadata.security.AclDecision;
import io.journalq.server.metadata.security.AclDecision.Verdict;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclResourceType;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Decides whether clients may do what they ask for, by the ACLs in the metadata and the settings of the broker. In doubt
 * it denies. Any thread.
 *
 * <p>Source: {@code StandardAuthorizer} of Kafka 4.3, which {@code AclOracleTest} compares with this class.
 */
public final class Authorizer {
    /** Everybody may do everything. */
    public static final Authorizer OFF = new Authorizer(false, () -> AclImage.NONE, Set.of(), true, AuditLog.OFF);

    /** A name that stands for any resource. Kafka asks for it, too, to find out whether the default allows everything. */
    private static final String ANY_RESOURCE = "hardcode";

    private final boolean on;
    private final Supplier<AclImage> acls;
    private final Set<String> superUsers;
    private final boolean allowsWithoutAcl;
    private final AuditLog audit;
    private final LongAdder denials = new LongAdder();

    /**
     * Creates an authorizer that is on.
     *
     * @param acls supplies the newest ACLs
     * @param superUsers principals, in the form {@code User:name}, that may do everything
     * @param allowsWithoutAcl whether everybody may use a resource that no ACL applies to
     * @param audit receives the decisions
     */
    public Authorizer(Supplier<AclImage> acls, Set<String> superUsers, boolean allowsWithoutAcl, AuditLog audit) {
        this(true, acls, superUsers, allowsWithoutAcl, audit);
    }

    private Authorizer(
            boolean on, Supplier<AclImage> acls, Set<String> superUsers, boolean allowsWithoutAcl, AuditLog audit) {
        this.on = on;
        this.acls = acls;
        this.superUsers = Set.copyOf(superUsers);
        this.allowsWithoutAcl = allowsWithoutAcl;
        this.audit = audit;
    }

    /**
     * Who asks.
     *
     * @param host the IP address of the client
     * @param api the name of the API, for the audit log
     * @param clientId that of the request, for the audit log; null if it has none
     * @param correlationId that of the request, for the audit log
     */
    public record Asker(Principal principal, String host, String api, String clientId, int correlationId) {}

    /** Whether rights are enforced. If not, everything is allowed. */
    public boolean isOn() {
        return on;
    }

    /** Number of times that a client was denied what it asked for. */
    public long denials() {
        return denials.sum();
    }

    /** Number of decisions that are missing in the audit log. */
    public long droppedAuditEvents() {
        return audit.dropped();
    }

    /** The newest ACLs. A decision holds as long as this is the same object. */
    public AclImage acls() {
        return acls.get();
    }

    /** Decides, and informs the audit log. */
    public boolean allows(AclImage image, Asker asker, Right right, String name) {
        if (!on) {
            return true;
        }
        if (superUsers.contains(asker.principal().toString())) {
            audit.allowed(asker, right, name, "super user");
            return true;
        }
        AclDecision decision = decide(image, asker, right, name);
        boolean allowed = isAllowed(decision);
        if (allowed) {
            audit.allowed(asker, right, name, reason(decision));
        } else {
            denials.increment();
            audit.denied(asker, right, name, reason(decision));
        }
        return allowed;
    }

    /** Decides without an entry in the audit log, for lists that leave out what the client may not see. */
    public boolean sees(Asker asker, Right right, String name) {
        return !on
                || superUsers.contains(asker.principal().toString())
                || isAllowed(decide(acls.get(), asker, right, name));
    }

    /** Whether there is a resource for which the client has a right. A denial is audited. */
    public boolean allowsSome(Asker asker, Right right) {
        boolean allowed = decidesSome(acls.get(), asker, right);
        if (!allowed) {
            denySome(asker, right);
        }
        return allowed;
    }

    /**
     * As {@link #allowsSome}, but nothing is audited. Reads all ACLs, which takes milliseconds if there are thousands:
     * a caller that asks again keeps the decision as long as the ACLs are the same object.
     */
    public boolean decidesSome(AclImage image, Asker asker, Right right) {
        String principal = asker.principal().toString();
        return !on
                || superUsers.contains(principal)
                || isAllowed(decide(image, asker, right, ANY_RESOURCE))
                || image.allowsSome(principal, asker.host(), right.operation(), right.type());
    }

    /** Audits that the client has a right for no resource. */
    public void denySome(Asker asker, Right right) {
        denials.increment();
        audit.denied(asker, right, "(any)", Verdict.NOT_ALLOWED.name());
    }

    /** The operations that a client may perform on a resource, as bits of KIP-430. Nothing is audited. */
    public int operations(Asker asker, AclResourceType type, String name) {
        boolean all = !on || superUsers.contains(asker.principal().toString());
        AclImage image = acls.get();
        int bits = 0;
        for (AclOperation operation : AclOperation.values()) {
            if (!type.has(operation)) {
                continue;
            }
            if (all || isAllowed(image.decide(asker.principal().toString(), asker.host(), operation, type, name))) {
                bits |= 1 << operation.code();
            }
        }
        return bits;
    }

    private static AclDecision decide(AclImage image, Asker asker, Right right, String name) {
        return image.decide(asker.principal().toString(), asker.host(), right.operation(), right.type(), name);
    }

    private boolean isAllowed(AclDecision decision) {
        return switch (decision.verdict()) {
            case ALLOWED -> true;
            case DENIED, NOT_ALLOWED -> false;
            case NO_ACL -> allowsWithoutAcl;
        };
    }

    private static String reason(AclDecision decision) {
        return decision.acl() == null
                ? decision.verdict().name()
                : decision.acl().toString();
    }
}
