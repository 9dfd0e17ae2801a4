package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.config.SecuritySettings;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.network.ConnectionLimits;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.observe.AdminAccess;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.BearerToken;
import io.journalq.server.security.sasl.HttpLogin;
import io.journalq.server.security.sasl.HttpLogins;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who may read the pages of the admin listener. Stateless. */
final class AdminLogins {
    private static final Logger log = LoggerFactory.getLogger(AdminLogins.class);

    /** The admin listener counts its connections itself, and has no requests of the Kafka protocol. */
    private static final ConnectionLimits NO_LIMITS = new ConnectionLimits(
            1,
            1,
            1,
            1,
            new ConnectionLimits.Admission(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE));

    private AdminLogins() {}

    /**
     * The access that the settings describe.
     *
     * @throws IOException when the token cannot be read; the message is one line for the operator
     */
    static AdminAccess accessOf(
            BrokerConfig config,
            ListenerTransports transports,
            ListenerLogins logins,
            Supplier<AuditLog> audit,
            SharedMemory memory,
            NetworkCounters counters)
            throws IOException {
        if (!transports.isAdminEncrypted()) {
            return AdminAccess.plain(config.get(SecuritySettings.ALLOW_INSECURE_LISTENERS));
        }
        Path tokenFile = config.file(ListenerSettings.ADMIN_TOKEN_FILE);
        BearerToken token = tokenFile == null ? null : readToken(tokenFile);
        HttpLogins users = logins.admin(audit);
        LogThrottle throttle = new LogThrottle(log);
        return new AdminAccess(
                transports.admin(),
                cycle -> LoopContext.of(cycle, NO_LIMITS, memory, counters, throttle, throttle),
                false,
                certificate -> hasName(transports, certificate),
                (authorization, client) -> isAdmitted(authorization, client, token, users));
    }

    private static BearerToken readToken(Path file) throws IOException {
        try {
            return BearerToken.read(file);
        } catch (IOException unusable) {
            throw new IOException("admin.token.file: " + unusable.getMessage(), unusable);
        }
    }

    private static boolean hasName(ListenerTransports transports, X509Certificate certificate) {
        try {
            transports.principals().of(certificate);
            return true;
        } catch (IllegalArgumentException noRuleMatches) {
            return false;
        }
    }

    private static CompletionStage<Boolean> isAdmitted(
            String authorization, SocketAddress client, BearerToken token, HttpLogins users) {
        if (token != null && token.isIn(authorization)) {
            return CompletableFuture.completedFuture(true);
        }
        return users.check(authorization, client).thenApply(HttpLogin::succeeded);
    }
}
