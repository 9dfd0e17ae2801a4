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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The transport of each listener and of the gateway, and how the certificates of clients become identities. Any thread. */
final class ListenerTransports implements AutoCloseable {
    private final Map<String, Transport> byListener;
    private final Transport gateway;
    private final PrincipalRules principals;
    private final boolean certificatesRequired;
    private final Set<String> saslListeners;
    /** Null without an encrypted listener. */
    private final TlsFiles files;

    private ListenerTransports(
            Map<String, Transport> byListener,
            Transport gateway,
            PrincipalRules principals,
            boolean certificatesRequired,
            Set<String> saslListeners,
            TlsFiles files) {
        this.byListener = byListener;
        this.gateway = gateway;
        this.principals = principals;
        this.certificatesRequired = certificatesRequired;
        this.saslListeners = saslListeners;
        this.files = files;
    }

    /**
     * Reads the keys and certificates if a listener is encrypted.
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
        try {
            TlsFiles files = config.hasEncryptedListener() ? TlsFiles.open(settings(config), counters) : null;
            Map<String, Transport> transports = new TreeMap<>();
            Set<String> saslListeners = new TreeSet<>();
            for (ListenerAddress listener : config.listeners()) {
                transports.put(listener.name(), transport(config.securityProtocol(listener), files));
                if (config.securityProtocol(listener).usesSasl()) {
                    saslListeners.add(listener.name());
                }
            }
            Transport gateway = transport(config.gatewayProtocol(), files);
            boolean required = clientAuth(config) == TlsSettings.ClientAuth.REQUIRED;
            return new ListenerTransports(transports, gateway, principals, required, saslListeners, files);
        } catch (ConfigException refused) {
            throw new StartException(refused.getMessage(), refused);
        }
    }

    private static Transport transport(SecurityProtocol protocol, TlsFiles files) {
        return protocol.isEncrypted() ? files.transport() : Transport.PLAIN;
    }

    private static TlsSettings settings(BrokerConfig config) {
        TlsSettings.ClientAuth clientAuth = clientAuth(config);
        TlsSettings.Store keys = store(
                config,
                ListenerSettings.SSL_KEYSTORE_LOCATION,
                ListenerSettings.SSL_KEYSTORE_TYPE,
                ListenerSettings.SSL_KEYSTORE_PASSWORD_FILE,
                ListenerSettings.SSL_KEY_PASSWORD_FILE);
        TlsSettings.Store trusted = clientAuth == TlsSettings.ClientAuth.NONE
                ? null
                : store(
                        config,
                        ListenerSettings.SSL_TRUSTSTORE_LOCATION,
                        ListenerSettings.SSL_TRUSTSTORE_TYPE,
                        ListenerSettings.SSL_TRUSTSTORE_PASSWORD_FILE,
                        null);
        return new TlsSettings(
                keys,
                trusted,
                clientAuth,
                config.get(ListenerSettings.SSL_ENABLED_PROTOCOLS),
                config.get(ListenerSettings.SSL_CIPHER_SUITES));
    }

    private static TlsSettings.ClientAuth clientAuth(BrokerConfig config) {
        return TlsSettings.ClientAuth.valueOf(
                config.get(ListenerSettings.SSL_CLIENT_AUTH).toUpperCase(Locale.ROOT));
    }

    private static TlsSettings.Store store(
            BrokerConfig config,
            ConfigKey<String> location,
            ConfigKey<String> type,
            ConfigKey<String> passwordFile,
            ConfigKey<String> keyPasswordFile) {
        return new TlsSettings.Store(
                config.file(location),
                KeyFileFormat.valueOf(config.get(type)),
                config.file(passwordFile),
                keyPasswordFile == null ? null : config.file(keyPasswordFile));
    }

    /** Derives the identities of clients from their certificates. */
    PrincipalRules principals() {
        return principals;
    }

    Transport of(ListenerAddress listener) {
        return byListener.get(listener.name());
    }

    boolean isEncrypted(ListenerAddress listener) {
        return of(listener) != Transport.PLAIN;
    }

    /** The transport of the HTTP gateway. */
    Transport gateway() {
        return gateway;
    }

    boolean isGatewayEncrypted() {
        return gateway != Transport.PLAIN;
    }

    /** Whether each client of the gateway has to present a certificate. */
    boolean areGatewayClientsAuthenticated() {
        return isGatewayEncrypted() && certificatesRequired;
    }

    /** Whether the clients of a listener have to log in. */
    boolean usesSasl(ListenerAddress listener) {
        return saslListeners.contains(listener.name());
    }

    /** Whether each client of a listener has to log in or to present a certificate. */
    boolean areClientsAuthenticated(ListenerAddress listener) {
        return usesSasl(listener) || (isEncrypted(listener) && certificatesRequired);
    }

    @Override
    public void close() {
        if (files != null) {
            files.close();
        }
    }
}
