package io.journalq.client.security;

import static io.journalq.client.internal.check.Arguments.notNull;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;

/**
 * How a client logs in: the mechanism of SASL, the user and the password. For listeners of the security protocols
 * SASL_SSL (with a {@link TlsConfig}) and SASL_PLAINTEXT. Immutable; several clients can share one.
 *
 * <p>With SCRAM, the password is not sent. The client also checks that the broker knows the keys of the user, and
 * refuses a broker that asks for fewer than 4,096 or more than 16,384 iterations.
 *
 * <pre>{@code
 * SaslConfig sasl = SaslConfig.scramSha256("billing", password);
 * Producer producer = Producer.builder().bootstrapServers("broker1.example.com:9094").tls(tls).sasl(sasl).build();
 * }</pre>
 */
public final class SaslConfig {
    /** The mechanism that sends the password itself. */
    private static final String PLAIN = "PLAIN";

    private final String mechanism;
    private final String user;
    private final byte[] password;

    private SaslConfig(String mechanism, String user, char[] password) {
        if (notNull(user, "user").isEmpty() || user.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("user must not be empty, and must not contain NUL");
        }
        if (notNull(password, "password").length == 0) {
            throw new IllegalArgumentException("password must not be empty");
        }
        ByteBuffer utf8 = StandardCharsets.UTF_8.encode(CharBuffer.wrap(password));
        this.mechanism = mechanism;
        this.user = user;
        this.password = new byte[utf8.remaining()];
        utf8.get(this.password);
    }

    /**
     * Logs in by SCRAM-SHA-256 (RFC 7677).
     *
     * @param password is copied
     */
    public static SaslConfig scramSha256(String user, char[] password) {
        return new SaslConfig("SCRAM-SHA-256", user, password);
    }

    /**
     * Logs in by SCRAM-SHA-512.
     *
     * @param password is copied
     */
    public static SaslConfig scramSha512(String user, char[] password) {
        return new SaslConfig("SCRAM-SHA-512", user, password);
    }

    /**
     * Logs in by PLAIN (RFC 4616), which sends the password. A client with this mechanism needs a {@link TlsConfig}.
     *
     * @param password is copied
     */
    public static SaslConfig plain(String user, char[] password) {
        return new SaslConfig(PLAIN, user, password);
    }

    /** The name of the mechanism, such as {@code SCRAM-SHA-256}. */
    public String mechanism() {
        return mechanism;
    }

    /** Whether the mechanism sends the password itself, so that connections must be encrypted. */
    public boolean isPasswordSent() {
        return mechanism.equals(PLAIN);
    }

    public String user() {
        return user;
    }

    /** A copy of the password, in UTF-8. */
    public byte[] password() {
        return password.clone();
    }

    /** Shows no password. */
    @Override
    public String toString() {
        return "SaslConfig(" + mechanism + ", user=" + user + ")";
    }
}
