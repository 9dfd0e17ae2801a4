package io.journalq.client.security;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.common.file.FileProblem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * How a client logs in: the mechanism of SASL, and the user and the password, or a token. For listeners of the security protocols
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

    /** The mechanism that sends a token. */
    private static final String OAUTHBEARER = "OAUTHBEARER";

    private static final long MAX_TOKEN_FILE_BYTES = 64 * 1024;

    private final String mechanism;
    /** Null if the client sends a token. */
    private final String user;

    private final byte[] password;
    /** Null if the client sends no token. */
    private final Supplier<String> tokens;

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
        this.tokens = null;
        utf8.get(this.password);
    }

    private SaslConfig(Supplier<String> tokens) {
        this.mechanism = OAUTHBEARER;
        this.user = null;
        this.password = null;
        this.tokens = notNull(tokens, "tokens");
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

    /**
     * Logs in by OAUTHBEARER (RFC 7628), with a token of an identity provider. A client with this mechanism needs a {@link
     * TlsConfig}.
     *
     * @param tokens supplies a valid token for each login, also for those before a session ends. Is called on the
     *     client's event loop, so it must not block. If it throws, the login fails
     */
    public static SaslConfig oauthBearer(Supplier<String> tokens) {
        return new SaslConfig(tokens);
    }

    /**
     * As {@link #oauthBearer(Supplier)}, with the token in a file, which is read for each login. Another program replaces
     * the file before the token expires.
     *
     * @param file at most 64 KiB
     */
    public static SaslConfig oauthBearer(Path file) {
        notNull(file, "file");
        return new SaslConfig(() -> readToken(file));
    }

    private static String readToken(Path file) {
        try {
            if (Files.size(file) > MAX_TOKEN_FILE_BYTES) {
                throw new IllegalStateException(
                        "the file of the token, " + file + ", is larger than " + MAX_TOKEN_FILE_BYTES + " bytes");
            }
            return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(
                    "cannot read the token in " + file + ": " + FileProblem.reason(unreadable), unreadable);
        }
    }

    /** The name of the mechanism, such as {@code SCRAM-SHA-256}. */
    public String mechanism() {
        return mechanism;
    }

    /** Whether the mechanism sends the password or the token itself, so that connections must be encrypted. */
    public boolean isPasswordSent() {
        return mechanism.equals(PLAIN) || tokens != null;
    }

    /** The user; null if the client logs in with a token, which names the user. */
    public String user() {
        return user;
    }

    /** A copy of the password, in UTF-8; null if the client logs in with a token. */
    public byte[] password() {
        return password == null ? null : password.clone();
    }

    /** The token for a login that begins now; null if the client logs in with a password. */
    public String token() {
        return tokens == null ? null : tokens.get();
    }

    /** Shows no password and no token. */
    @Override
    public String toString() {
        return "SaslConfig(" + mechanism + (user == null ? "" : ", user=" + user) + ")";
    }
}
