package io.journalq.server.broker;

import io.journalq.common.file.FileProblem;
import io.journalq.server.config.AccessSettings;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.config.SecurityProtocol;
import io.journalq.server.config.SecuritySettings;
import io.journalq.server.security.Principal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;

/**
 * Refuses a configuration that is more open than {@code security.profile} allows. Each refusal is one line that says
 * what to do. Stateless.
 */
final class StartChecks {
    private static final String ROOT = "root";

    /** Files that hold a secret, or the password of one. */
    private static final List<ConfigKey<String>> SECRET_FILES = List.of(
            ListenerSettings.SSL_KEYSTORE_LOCATION,
            ListenerSettings.SSL_KEYSTORE_PASSWORD_FILE,
            ListenerSettings.SSL_KEY_PASSWORD_FILE,
            ListenerSettings.SSL_TRUSTSTORE_PASSWORD_FILE,
            ListenerSettings.ADMIN_TOKEN_FILE);

    private StartChecks() {}

    /**
     * Checks a configuration.
     *
     * @throws StartException with the first violation
     * @throws ConfigException when the protocol of a listener is not known
     */
    static void check(BrokerConfig config) throws StartException, ConfigException {
        if (config.get(SecuritySettings.SECURITY_PROFILE).equals(SecuritySettings.PRODUCTION)) {
            checkProduction(config);
        } else if (!config.get(SecuritySettings.ALLOW_INSECURE_LISTENERS)) {
            checkDevelopment(config);
        }
    }

    private static void checkDevelopment(BrokerConfig config) throws StartException, ConfigException {
        for (ListenerAddress listener : config.listeners()) {
            if (listener.isOpen() && !authenticates(config, listener, config.securityProtocol(listener))) {
                throw new StartException("listeners: clients of other machines can use " + listener
                        + " without a login or a certificate; bind localhost, use SASL_SSL or ssl.client.auth=required,"
                        + " or start with --insecure");
            }
        }
        ListenerAddress quorum = config.quorumListener().orElse(null);
        if (quorum != null && quorum.isOpen() && !config.quorumProtocol().isEncrypted()) {
            throw new StartException("quorum.listener: other machines can reach " + quorum.address()
                    + " without a certificate; use SSL://" + quorum.address() + ", or start with --insecure");
        }
    }

    private static void checkProduction(BrokerConfig config) throws StartException, ConfigException {
        if (config.get(SecuritySettings.ALLOW_INSECURE_LISTENERS)) {
            throw refusal("allow.insecure.listeners is true; set it to false, and do not start with --insecure");
        }
        for (ListenerAddress listener : config.listeners()) {
            SecurityProtocol protocol = config.securityProtocol(listener);
            if (!protocol.isEncrypted()) {
                throw refusal("listener " + listener + " is not encrypted; use SASL_SSL, or SSL with"
                        + " ssl.client.auth=required");
            }
            if (!authenticates(config, listener, protocol)) {
                throw refusal("listener " + listener + " does not authenticate its clients; use SASL_SSL, or set"
                        + " ssl.client.auth=required");
            }
        }
        checkGateway(config);
        ListenerAddress admin = config.adminListener().orElse(null);
        if (admin != null && admin.isOpen() && !config.adminProtocol().isEncrypted()) {
            throw refusal("admin.listener is open to other machines at " + admin.address()
                    + ", and is not encrypted; bind localhost, or use SSL://" + admin.address());
        }
        if (config.quorumListener().isPresent() && !config.quorumProtocol().isEncrypted()) {
            throw refusal("quorum.listener is not encrypted; use SSL://"
                    + config.quorumListener().get().address() + " with ssl.client.auth=required");
        }
        if (config.get(BrokerSettings.AUTO_CREATE_TOPICS)) {
            throw refusal("clients create topics by naming them; set auto.create.topics.enable=false");
        }
        if (config.get(AccessSettings.ALLOW_EVERYONE)) {
            throw refusal("everyone may use what no ACL names; set allow.everyone.if.no.acl.found=false");
        }
        if (AccessSettings.principals(config.get(AccessSettings.SUPER_USERS))
                .contains(Principal.ANONYMOUS.toString())) {
            throw refusal("super.users names User:ANONYMOUS, which is everybody without a login; remove it");
        }
        for (ConfigKey<String> key : SECRET_FILES) {
            for (Path file : config.files(key)) {
                checkFile(key, file);
            }
        }
    }

    private static void checkGateway(BrokerConfig config) throws StartException, ConfigException {
        ListenerAddress gateway = config.gatewayListener().orElse(null);
        if (config.get(ListenerSettings.GATEWAY_ALLOW_ANONYMOUS)) {
            throw refusal("gateway.allow.anonymous is true; remove it");
        }
        if (gateway != null && !config.gatewayProtocol().isEncrypted()) {
            throw refusal("the HTTP gateway at " + gateway.address()
                    + " is not encrypted; leave gateway.listener empty," + " or use SASL_SSL://" + gateway.address());
        }
        if (gateway != null && !authenticates(config, gateway, config.gatewayProtocol())) {
            throw refusal("the HTTP gateway at " + gateway.address() + " does not authenticate its clients; leave"
                    + " gateway.listener empty, use SASL_SSL, or set ssl.client.auth=required");
        }
    }

    /** Whether each client of a listener with this protocol has to prove who it is. */
    private static boolean authenticates(BrokerConfig config, ListenerAddress listener, SecurityProtocol protocol) {
        return protocol.usesSasl()
                || (protocol.isEncrypted()
                        && config.get(ListenerSettings.SSL_CLIENT_AUTH, listener.name())
                                .equals("required"));
    }

    /** As in PostgreSQL: a file of root may be readable by its group, and others by their owner only. */
    private static void checkFile(ConfigKey<String> key, Path file) throws StartException {
        if (Files.getFileAttributeView(file, PosixFileAttributeView.class) == null) {
            return;
        }
        PosixFileAttributes attributes;
        try {
            attributes = Files.readAttributes(file, PosixFileAttributes.class);
        } catch (IOException unreadable) {
            throw refusal("cannot read " + file + " (" + key.name() + "): " + FileProblem.reason(unreadable));
        }
        Set<PosixFilePermission> permissions = attributes.permissions();
        boolean groupReads = permissions.contains(PosixFilePermission.GROUP_READ)
                && !attributes.owner().getName().equals(ROOT);
        if (groupReads
                || permissions.contains(PosixFilePermission.GROUP_WRITE)
                || permissions.contains(PosixFilePermission.OTHERS_READ)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
            throw refusal("other users can read or change " + file + " (" + key.name() + "); run: chmod 600 " + file);
        }
    }

    private static StartException refusal(String reason) {
        return new StartException("security.profile is production, and " + reason);
    }
}
