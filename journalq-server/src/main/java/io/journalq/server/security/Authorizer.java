package io.journalq.server.security;

import io.journalq.server.metadata.security.AclDecision;
import io.journalq.server.metadata.security.AclDecision.Verdict;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclResourceType;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
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
    /** Everybody may do everything, and nothing is audited. */
    public static final Authorizer OFF = unrestricted(AuditLog.OFF);

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
     * Everybody may do everything.
     *
     * @param audit receives the logins that are refused
     */
    public static Authorizer unrestricted(AuditLog audit) {
        return new Authorizer(false, () -> AclImage.NONE, Set.of(), true, audit);
    }

    /**
     * That a client does not have a right.
     *
     * @param event the id of the event in the audit log; null if it is not there
     */
    public record Denial(String event) {
        /** What the client is told. */
        public String message() {
            return message("Authorization failed", event);
        }

        /**
         * Says what happened, and by which event an operator finds the reason.
         *
         * @param event its id; null if the audit log does not have it
         */
        public static String message(String what, String event) {
            return event == null ? what : what + " (event " + event + ")";
        }
    }

    /**
     * Who asks.
     *
     * @param host the IP address of the client
     * @param api the name of the API, for the audit log
     * @param clientId that of the request, for the audit log; null if it has none
     * @param correlationId that of the request, for the audit log
     */
    public record Asker(Principal principal, String host, String api, String clientId, int correlationId) {
        /** A client of HTTP that has not logged in. */
        public static Asker overHttp(String listener, SocketAddress client) {
            return new Asker(Principal.ANONYMOUS, host(client), listener, null, 0);
        }

        /** The address of a client as it stands in ACLs. */
        public static String host(SocketAddress client) {
            return client instanceof InetSocketAddress internet && internet.getAddress() != null
                    ? internet.getAddress().getHostAddress()
                    : String.valueOf(client);
        }

        /**
         * The host of an ACL in the form of {@link #host(SocketAddress)}, because an IPv6 address can be written in
         * several ways. What is no address stays as it is, and so does one with a scope. Never asks for a name.
         */
        public static String hostNamed(String text) {
            byte[] address = text.indexOf('%') < 0 ? NetUtil.createByteArrayFromIpAddressString(text) : null;
            try {
                return address == null
                        ? text
                        : InetAddress.getByAddress(address).getHostAddress();
            } catch (UnknownHostException impossible) {
                return text; // The bytes are those of an address.
            }
        }
    }

    /** Whether rights are enforced. If not, everything is allowed. */
    public boolean isOn() {
        return on;
    }

    /** Number of times that a client was denied what it asked for. */
    public long denials() {
        return denials.sum();
    }

    /** The newest ACLs. A decision holds as long as this is the same object. */
    public AclImage acls() {
        return acls.get();
    }

    /** Receives what is decided. */
    public AuditLog audit() {
        return audit;
    }

    /** Decides, and informs the audit log. Returns null if the client has the right. */
    public Denial check(AclImage image, Asker asker, Right right, String name) {
        if (!on) {
            return null;
        }
        if (superUsers.contains(asker.principal().toString())) {
            audit.allowed(asker, right, name, "super user");
            return null;
        }
        AclDecision decision = decide(image, asker, right, name);
        if (isAllowed(decision)) {
            audit.allowed(asker, right, name, reason(decision));
            return null;
        }
        denials.increment();
        return new Denial(audit.denied(asker, right, name, reason(decision)));
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
