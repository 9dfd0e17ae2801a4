package io.journalq.server.broker;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Adds users to brokers that do not run. The keys of a password are made once in a process, with the fewest iterations
 * that brokers accept, because making them takes half of the time of a test. For any thread.
 */
public final class TestUsers {
    private static final int SALT_SIZE_BYTES = 16;
    private static final Map<Login, ScramCredential> KEYS = new ConcurrentHashMap<>();
    private static final SecureRandom RANDOM = new SecureRandom();

    private record Login(String password, ScramMechanism mechanism) {}

    private TestUsers() {}

    /** Adds a user that can log in by these mechanisms. */
    public static void add(TestBroker broker, String user, String password, ScramMechanism... mechanisms)
            throws Exception {
        List<ScramCredential> keys = Stream.of(mechanisms)
                .map(mechanism -> KEYS.computeIfAbsent(new Login(password, mechanism), TestUsers::keys))
                .toList();
        List<OfflineUsers.Result> results = new OfflineUsers(broker.config()).addAll(new TreeMap<>(Map.of(user, keys)));
        if (results.get(0).refusal() != null) {
            throw new IllegalStateException(results.get(0).refusal());
        }
    }

    private static ScramCredential keys(Login login) {
        ScramMechanism mechanism = login.mechanism;
        byte[] salt = new byte[SALT_SIZE_BYTES];
        RANDOM.nextBytes(salt);
        byte[] password = login.password.getBytes(StandardCharsets.UTF_8);
        int iterations = ScramMechanism.MIN_ITERATIONS;
        return mechanism.credential(mechanism.saltedPassword(password, salt, iterations), salt, iterations);
    }
}
