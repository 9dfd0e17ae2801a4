package io.journalq.server.broker;

import io.journalq.server.api.LoginRules;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.config.TokenSettings;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.network.PreAuthentication;
import io.journalq.server.security.sasl.PasswordCheck;
import io.journalq.server.security.sasl.PasswordPool;
import io.journalq.server.security.sasl.SaslMechanisms;
import io.journalq.server.security.sasl.ScramUsers;
import io.journalq.server.security.token.JwksSource;
import io.journalq.server.security.token.TokenRules;
import io.journalq.server.security.token.TokenValidator;
import java.io.IOException;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** How the clients of each listener log in. Any thread. */
final class ListenerLogins implements AutoCloseable {
    private static final int SECRET_SIZE_BYTES = 32;

    private final LoginRules rules;
    private final PasswordPool pool;
    private final PasswordCheck passwords;
    /** Null if no listener offers OAUTHBEARER. */
    private final JwksSource tokenKeys;

    private final PreAuthentication preAuthentication = new PreAuthentication();

    private ListenerLogins(LoginRules rules, PasswordPool pool, PasswordCheck passwords, JwksSource tokenKeys) {
        this.rules = rules;
        this.pool = pool;
        this.tokenKeys = tokenKeys;
        this.passwords = passwords;
    }

    /**
     * Prepares the logins of all listeners.
     *
     * @param users supplies the newest credentials
     * @throws IOException if the keys of tokens cannot be used
     */
    static ListenerLogins open(BrokerConfig config, Supplier<ScramImage> users, SecureRandom random)
            throws StartException, IOException {
        ScramUsers scram = new ScramUsers(users, newSecret(random));
        PasswordPool pool = new PasswordPool();
        PasswordCheck passwords = new PasswordCheck(scram, pool, newSecret(random));
        JwksSource tokenKeys = null;
        TokenValidator tokens = null;
        Map<String, SaslMechanisms> byListener = new TreeMap<>();
        try {
            for (ListenerAddress listener : config.listeners()) {
                if (config.securityProtocol(listener).usesSasl()) {
                    List<String> names = config.saslMechanisms(listener);
                    if (tokens == null && names.contains(SaslMechanisms.OAUTHBEARER)) {
                        TokenRules wanted = tokenRules(config);
                        tokenKeys = JwksSource.open(wanted.keys());
                        tokens = new TokenValidator(wanted, tokenKeys, pool, Clock.systemUTC());
                    }
                    byListener.put(listener.name(), new SaslMechanisms(names, scram, passwords, tokens, random));
                }
            }
        } catch (ConfigException refused) {
            throw new StartException(refused.getMessage(), refused);
        }
        return new ListenerLogins(
                new LoginRules(byListener, config.get(ListenerSettings.CONNECTIONS_MAX_REAUTH_MS)),
                pool,
                passwords,
                tokenKeys);
    }

    private static TokenRules tokenRules(BrokerConfig config) {
        return new TokenRules(
                URI.create(config.get(TokenSettings.JWKS_ENDPOINT_URL)),
                config.get(TokenSettings.EXPECTED_ISSUER),
                Set.copyOf(config.get(TokenSettings.EXPECTED_AUDIENCE)),
                config.get(TokenSettings.SUB_CLAIM_NAME),
                TimeUnit.SECONDS.toMillis(config.get(TokenSettings.CLOCK_SKEW_SECONDS)));
    }

    private static byte[] newSecret(SecureRandom random) {
        byte[] secret = new byte[SECRET_SIZE_BYTES];
        random.nextBytes(secret);
        return secret;
    }

    /** Checks the passwords of clients of HTTP. */
    PasswordCheck passwords() {
        return passwords;
    }

    LoginRules rules() {
        return rules;
    }

    /** The limits of clients of a listener before their login; null if they need not log in. */
    PreAuthentication limitsOf(ListenerAddress listener) {
        return rules.byListener().containsKey(listener.name()) ? preAuthentication : null;
    }

    @Override
    public void close() {
        pool.close();
        if (tokenKeys != null) {
            tokenKeys.close();
        }
    }
}
