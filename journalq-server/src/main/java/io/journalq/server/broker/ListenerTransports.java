package io.journalq.server.broker;

import io.journalq.common.tls.KeyFileFormat;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.config.SecurityProtocol;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.Transport;
import io.journalq.server.network.tls.TlsException;
import io.journalq.server.network.tls.TlsFiles;
import io.journalq.server.network.tls.TlsSettings;
import io.journalq.server.security.PrincipalRules;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The transport of each listener, of the gateway, of the admin listener and of the quorum, and how the certificates of
 * clients become identities. Listeners with the same settings share their files and threads. Any thread.
 */
final class ListenerTransports implements AutoCloseable {
    private final BrokerConfig config;
    private final NetworkCounters counters;
    private final PrincipalRules principals;
    private final Map<TlsSettings, TlsFiles> filesBySettings = new LinkedHashMap<>();
    private final Map<String, Way> byListener = new TreeMap<>();
    private Way gateway = Way.PLAIN;
    private Way admin = Way.PLAIN;
    private PeerIdentity peers;
    private PeerIdentity quorum;

    /**
     * How clients reach a listener.
     *
     * @param protocol of the listener
     * @param certificatesRequired whether each client has to present a certificate
     * @param files null if the listener is not encrypted
     */
    private record Way(SecurityProtocol protocol, boolean certificatesRequired, TlsFiles files) {
        static final Way PLAIN = new Way(SecurityProtocol.PLAINTEXT, false, null);

        Transport transport() {
            return files == null ? Transport.PLAIN : files.transport();
        }

        boolean authenticates() {
            return protocol.usesSasl() || certificatesRequired;
        }
    }

    private ListenerTransports(BrokerConfig config, NetworkCounters counters, PrincipalRules principals) {
        this.config = config;
        this.counters = counters;
        this.principals = principals;
    }

    /**
     * Reads the keys and certificates of encrypted listeners.
     *
     * @throws StartException when the settings are contradictory
     * @throws TlsException when the files cannot be used
     */
    static ListenerTransports open(BrokerConfig config, NetworkCounters counters) throws StartException, TlsException {
        PrincipalRules principals;
        try {
            principals = PrincipalRules.parse(config.get(ListenerSettings.SSL_PRINCIPAL_MAPPING_RULES));
        } catch (IllegalArgumentException malformed) {
            throw new StartException("ssl.principal.mapping.rules: " + malformed.getMessage(), malformed);
        }
        ListenerTransports transports = new ListenerTransports(config, counters, principals);
        try {
            transports.open();
            return transports;
        } catch (ConfigException refused) {
            transports.close();
            throw new StartException(refused.getMessage(), refused);
        } catch (TlsException unusable) {
            transports.close();
            throw unusable;
        }
    }

    private void open() throws ConfigException, TlsException {
        ListenerAddress quorumAddress = config.quorumListener().orElse(null);
        for (ListenerAddress listener : config.listeners()) {
            boolean ofBrokers = quorumAddress != null && listener.name().equals(config.interBrokerListenerName());
            Way way = open(listener, config.securityProtocol(listener), ofBrokers);
            byListener.put(listener.name(), way);
            if (ofBrokers && way.files() != null) {
                peers = identity(way);
            }
        }
        if (config.gatewayListener().isPresent()) {
            gateway = open(config.gatewayListener().get(), config.gatewayProtocol(), false);
        }
        if (config.adminListener().isPresent()) {
            admin = open(config.adminListener().get(), config.adminProtocol(), false);
        }
        if (quorumAddress != null && config.quorumProtocol().isEncrypted()) {
            quorum = identity(open(quorumAddress, config.quorumProtocol(), true));
        }
    }

    private PeerIdentity identity(Way way) {
        return new PeerIdentity(way.files(), principals, config.get(ListenerSettings.BROKER_PRINCIPALS));
    }

    private Way open(ListenerAddress listener, SecurityProtocol protocol, boolean connects)
            throws ConfigException, TlsException {
        if (!protocol.isEncrypted()) {
            return new Way(protocol, false, null);
        }
        TlsSettings settings = settings(listener.name(), connects);
        TlsFiles files = filesBySettings.get(settings);
        if (files == null) {
            files = TlsFiles.open(settings, counters);
            filesBySettings.put(settings, files);
        }
        return new Way(protocol, settings.clientAuth() == TlsSettings.ClientAuth.REQUIRED, files);
    }

    private TlsSettings settings(String name, boolean connects) {
        TlsSettings.ClientAuth clientAuth = TlsSettings.ClientAuth.valueOf(
                config.get(ListenerSettings.SSL_CLIENT_AUTH, name).toUpperCase(Locale.ROOT));
        TlsSettings.Store keys = store(
                name,
                ListenerSettings.SSL_KEYSTORE_LOCATION,
                ListenerSettings.SSL_KEYSTORE_TYPE,
                ListenerSettings.SSL_KEYSTORE_PASSWORD_FILE,
                ListenerSettings.SSL_KEY_PASSWORD_FILE);
        TlsSettings.Store trusted = clientAuth == TlsSettings.ClientAuth.NONE
                ? null
                : store(
                        name,
                        ListenerSettings.SSL_TRUSTSTORE_LOCATION,
                        ListenerSettings.SSL_TRUSTSTORE_TYPE,
                        ListenerSettings.SSL_TRUSTSTORE_PASSWORD_FILE,
                        null);
        return new TlsSettings(
                keys,
                trusted,
                clientAuth,
                config.get(ListenerSettings.SSL_ENABLED_PROTOCOLS, name),
                config.get(ListenerSettings.SSL_CIPHER_SUITES, name),
                connects);
    }

    private TlsSettings.Store store(
            String name,
            ConfigKey<String> location,
            ConfigKey<String> type,
            ConfigKey<String> passwordFile,
            ConfigKey<String> keyPasswordFile) {
        return new TlsSettings.Store(
                config.file(location, name),
                KeyFileFormat.valueOf(config.get(type, name)),
                config.file(passwordFile, name),
                keyPasswordFile == null ? null : config.file(keyPasswordFile, name));
    }

    /** Derives the identities of clients from their certificates. */
    PrincipalRules principals() {
        return principals;
    }

    Transport of(ListenerAddress listener) {
        return byListener.get(listener.name()).transport();
    }

    boolean isEncrypted(ListenerAddress listener) {
        return byListener.get(listener.name()).files() != null;
    }

    /** The transport of the HTTP gateway. */
    Transport gateway() {
        return gateway.transport();
    }

    boolean isGatewayEncrypted() {
        return gateway.files() != null;
    }

    /** Whether each client of the gateway has to log in or to present a certificate. */
    boolean areGatewayClientsAuthenticated() {
        return gateway.authenticates();
    }

    /** Whether each request to the gateway has to log in. */
    boolean needsGatewayLogins() {
        return gateway.protocol().usesSasl();
    }

    /** The transport of the admin listener. */
    Transport admin() {
        return admin.transport();
    }

    boolean isAdminEncrypted() {
        return admin.files() != null;
    }

    /** Whether the clients of a listener have to log in. */
    boolean usesSasl(ListenerAddress listener) {
        return byListener.get(listener.name()).protocol().usesSasl();
    }

    /** Whether each client of a listener has to log in or to present a certificate. */
    boolean areClientsAuthenticated(ListenerAddress listener) {
        return byListener.get(listener.name()).authenticates();
    }

    /** Who this broker is for other brokers; null if the connections between brokers are not encrypted. */
    PeerIdentity peers() {
        return peers;
    }

    /** The same for the voters of the metadata quorum. */
    PeerIdentity quorum() {
        return quorum;
    }

    @Override
    public void close() {
        filesBySettings.values().forEach(TlsFiles::close);
    }
}
