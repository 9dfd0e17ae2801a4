package io.journalq.server.config;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The settings of a broker for the rights of its clients. */
public final class AccessSettings {
    /** Kafka's setting for {@link #AUTHORIZATION_ENABLED}. */
    static final String KAFKA_AUTHORIZER = "authorizer.class.name";

    private static final String SEPARATOR = ";";

    public static final ConfigKey<Boolean> AUTHORIZATION_ENABLED = ConfigKey.ofBoolean(
            "authorization.enabled",
            false,
            "Whether ACLs decide what clients may do. If not, each client that can connect and log in may do "
                    + "everything, and requests about ACLs get SECURITY_DISABLED. Set it to the same value on all "
                    + "brokers of a cluster. Takes the place of Kafka's authorizer.class.name.");
    public static final ConfigKey<String> SUPER_USERS = ConfigKey.ofText(
                    "super.users",
                    "",
                    "Users who may do everything, whatever the ACLs say, as in Kafka: User:name, separated by "
                            + "semicolons. At least one is needed to create the first ACLs.")
            .checkedBy(AccessSettings::readPrincipals);
    public static final ConfigKey<Boolean> ALLOW_EVERYONE = ConfigKey.ofBoolean(
            "allow.everyone.if.no.acl.found",
            false,
            "Whether every client may use a resource that no ACL applies to. It is meant for the time in which ACLs"
                    + " are introduced.");
    public static final ConfigKey<Boolean> AUDIT_ALLOWED = ConfigKey.ofBoolean(
            "audit.allowed.operations",
            false,
            "Whether the audit log (logger journalq.audit) contains what clients were allowed, too. What they were "
                    + "denied is always logged. A right that a connection uses again is logged once.");

    /** These settings, in the order of {@code conf/journalq.yaml}. */
    static final List<ConfigKey<?>> ALL = List.of(AUTHORIZATION_ENABLED, SUPER_USERS, ALLOW_EVERYONE, AUDIT_ALLOWED);

    private AccessSettings() {}

    /** The principals in a value of {@link #SUPER_USERS}. */
    public static Set<String> principals(String text) {
        Set<String> principals = new TreeSet<>();
        for (String principal : text.split(SEPARATOR, -1)) {
            if (!principal.isBlank()) {
                principals.add(principal.strip());
            }
        }
        return principals;
    }

    private static String readPrincipals(String text) throws ConfigException {
        for (String principal : principals(text)) {
            int separator = principal.indexOf(':');
            if (separator < 1 || separator == principal.length() - 1) {
                throw new ConfigException("'" + principal + "' must have the form User:name");
            }
        }
        return text.strip();
    }
}
