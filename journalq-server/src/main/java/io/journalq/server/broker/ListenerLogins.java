package io.journalq.server.broker;

import io.journalq.server.api.LoginRules;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.config.TokenSettings;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.network.AddressLimits;
import io.journalq.server.network.Exchange;
import io.journalq.server.network.KafkaDoor;
import io.journalq.server.network.PreAuthentication;
import io.journalq.server.network.Transport;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.Authorizer.Asker;
import io.journalq.server.security.sasl.HttpLogin;
import io.journalq.server.security.sasl.HttpLogins;
import io.journalq.server.security.sasl.HttpScheme;
import io.journalq.server.security.sasl.PasswordCheck;
import io.journalq.server.security.sasl.PasswordPool;
import io.journalq.server.security.sasl.SaslMechanisms;
import io.journalq.server.security.sasl.ScramUsers;
import io.journalq.server.security.sasl.TokenLogin;
import io.journalq.server.security.token.JwksSource;
import io.journalq.server.security.token.TokenRules;
import io.journalq.server.security.token.TokenValidator;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
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

    /** Null if the gateway does not accept tokens. */
    private final TokenLogin gatewayTokens;

    private final List<HttpScheme> gatewaySchemes;

    private final AddressLimits addresses;
    private final PreAuthentication preAuthentication;

    private ListenerLogins(
            LoginRules rules,
            PasswordPool pool,
            PasswordCheck passwords,
            JwksSource tokenKeys,
            TokenLogin gatewayTokens,
            List<HttpScheme> gatewaySchemes,
            AddressLimits addresses) {
        this.addresses = addresses;
        this.preAuthentication = new PreAuthentication(addresses);
        this.rules = rules;
        this.pool = pool;
        this.tokenKeys = tokenKeys;
        this.gatewayTokens = gatewayTokens;
        this.gatewaySchemes = gatewaySchemes;
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
        List<HttpScheme> gateway;
        try {
            gateway = schemes(config.gatewayMechanisms());
            if (config.acceptsTokens()) {
                TokenRules wanted = tokenRules(config);
                tokenKeys = JwksSource.open(wanted.keys());
                tokens = new TokenValidator(wanted, tokenKeys, pool, Clock.systemUTC());
            }
            for (ListenerAddress listener : config.listeners()) {
                if (config.securityProtocol(listener).usesSasl()) {
                    List<String> names = config.saslMechanisms(listener);
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
                tokenKeys,
                gateway.contains(HttpScheme.BEARER) ? new TokenLogin(tokens) : null,
                gateway,
                new AddressLimits(
                        config.get(BrokerSettings.MAX_UNAUTHENTICATED_CONNECTIONS_PER_IP),
                        config.get(BrokerSettings.MAX_AUTHENTICATION_FAILURES_PER_IP)));
    }

    /** What clients of HTTP send for mechanisms: a password for each except OAUTHBEARER. */
    private static List<HttpScheme> schemes(List<String> mechanisms) {
        return mechanisms.stream()
                .map(name -> name.equals(SaslMechanisms.OAUTHBEARER) ? HttpScheme.BEARER : HttpScheme.BASIC)
                .distinct()
                .sorted()
                .toList();
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

    /** How clients of the admin listener log in. */
    HttpLogins admin(Supplier<AuditLog> audit) {
        return new OverHttp("admin.listener", List.of(HttpScheme.BASIC), audit);
    }

    /** How clients of the HTTP gateway log in. */
    HttpLogins gateway(Supplier<AuditLog> audit) {
        return new OverHttp("gateway.listener", gatewaySchemes, audit);
    }

    /** The logins of a listener, which the audit log names as the API. */
    private final class OverHttp implements HttpLogins {
        private final String listener;
        private final List<HttpScheme> schemes;
        private final Supplier<AuditLog> audit;

        OverHttp(String listener, List<HttpScheme> schemes, Supplier<AuditLog> audit) {
            this.listener = listener;
            this.schemes = schemes;
            this.audit = audit;
        }

        @Override
        public List<HttpScheme> schemes() {
            return schemes;
        }

        @Override
        public CompletionStage<HttpLogin> check(String authorization, SocketAddress client) {
            if (addresses.isLockedOut(client)) {
                throw lockedOut();
            }
            CompletionStage<HttpLogin> check;
            try {
                check = check(authorization);
            } catch (RejectedExecutionException tooMany) {
                throw new RejectedExecutionException("too many logins are being checked", tooMany);
            }
            return check.thenApply(login -> {
                // Guesses that were sent at the same time tell nothing any more once too many of them have failed.
                boolean isTooLate = addresses.isLockedOut(client);
                HttpLogin result = login.succeeded() ? login : refused(login, client);
                if (isTooLate) {
                    throw lockedOut();
                }
                return result;
            });
        }

        private RejectedExecutionException lockedOut() {
            return new RejectedExecutionException("too many logins of this address have failed within a minute");
        }

        private HttpLogin refused(HttpLogin login, SocketAddress client) {
            addresses.onFailedLogin(client);
            return login.at(audit.get()
                    .loginRefused(Asker.overHttp(listener, client), login.user(), login.mechanism(), login.refusal()));
        }

        private CompletionStage<HttpLogin> check(String authorization) {
            HttpScheme scheme = HttpScheme.of(authorization);
            if (scheme == null || !schemes.contains(scheme)) {
                return CompletableFuture.completedFuture(HttpLogin.otherScheme());
            }
            return scheme == HttpScheme.BEARER ? gatewayTokens.logIn(authorization) : passwords.logIn(authorization);
        }
    }

    LoginRules rules() {
        return rules;
    }

    /** Speaks the Kafka protocol on a listener, and limits its clients before they have authenticated. */
    KafkaDoor doorOf(ListenerAddress listener, Exchange.Factory exchanges, Transport transport) {
        boolean loginFollows = rules.byListener().containsKey(listener.name());
        boolean limited = loginFollows || transport != Transport.PLAIN;
        return new KafkaDoor(exchanges, transport, limited ? preAuthentication : null, !loginFollows);
    }

    @Override
    public void close() {
        pool.close();
        if (tokenKeys != null) {
            tokenKeys.close();
        }
    }
}
