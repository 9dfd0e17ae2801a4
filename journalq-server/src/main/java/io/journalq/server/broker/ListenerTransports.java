package io.journalq.server.broker;

import io.journalq.common.tls.KeyFileFormat;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.Transport;
import io.journalq.server.network.tls.TlsException;
import io.journalq.server.network.tls.TlsFiles;
import io.journalq.server.network.tls.TlsSettings;
import io.journalq.server.security.PrincipalRules;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The transport of each listener, and how the certificates of clients become identities. Any thread. */
final class ListenerTransports implements AutoCloseable {
    private final Map<String, Transport> byListener;
    private final PrincipalRules principals;
    private final boolean clientsAuthenticated;
    /** Null without an encrypted listener. */
    private final TlsFiles files;

    private ListenerTransports(
            Map<String, Transport> byListener,
            PrincipalRules principals,
            boolean clientsAuthenticated,
            TlsFiles files) {
        this.byListener = byListener;
        this.principals = principals;
        this.clientsAuthenticated = clientsAuthenticated;
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
            principals = PrincipalRules.parse(config.get(BrokerSettings.SSL_PRINCIPAL_MAPPING_RULES));
        } catch (IllegalArgumentException malformed) {
            throw new StartException("ssl.principal.mapping.rules: " + malformed.getMessage(), malformed);
        }
        try {
            TlsFiles files = config.hasEncryptedListener() ? TlsFiles.open(settings(config), counters) : null;
            Map<String, Transport> transports = new TreeMap<>();
            for (ListenerAddress listener : config.listeners()) {
                boolean encrypted = config.securityProtocol(listener).isEncrypted();
                transports.put(listener.name(), encrypted ? files.transport() : Transport.PLAIN);
            }
            boolean required = clientAuth(config) == TlsSettings.ClientAuth.REQUIRED;
            return new ListenerTransports(transports, principals, required, files);
        } catch (ConfigException refused) {
            throw new StartException(refused.getMessage(), refused);
        }
    }

    private static TlsSettings settings(BrokerConfig config) {
        TlsSettings.ClientAuth clientAuth = clientAuth(config);
        TlsSettings.Store keys = store(
                config,
                BrokerSettings.SSL_KEYSTORE_LOCATION,
                BrokerSettings.SSL_KEYSTORE_TYPE,
                BrokerSettings.SSL_KEYSTORE_PASSWORD_FILE,
                BrokerSettings.SSL_KEY_PASSWORD_FILE);
        TlsSettings.Store trusted = clientAuth == TlsSettings.ClientAuth.NONE
                ? null
                : store(
                        config,
                        BrokerSettings.SSL_TRUSTSTORE_LOCATION,
                        BrokerSettings.SSL_TRUSTSTORE_TYPE,
                        BrokerSettings.SSL_TRUSTSTORE_PASSWORD_FILE,
                        null);
        return new TlsSettings(
                keys,
                trusted,
                clientAuth,
                config.get(BrokerSettings.SSL_ENABLED_PROTOCOLS),
                config.get(BrokerSettings.SSL_CIPHER_SUITES));
    }

    private static TlsSettings.ClientAuth clientAuth(BrokerConfig config) {
        return TlsSettings.ClientAuth.valueOf(
                config.get(BrokerSettings.SSL_CLIENT_AUTH).toUpperCase(Locale.ROOT));
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

    /** Whether each client of an encrypted listener has to present a certificate. */
    boolean areClientsAuthenticated() {
        return clientsAuthenticated;
    }

    @Override
    public void close() {
        if (files != null) {
            files.close();
        }
    }
}
