package io.journalq.server.security;

import io.journalq.common.file.FileProblem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;

/** A secret that a client of HTTP sends instead of a user and a password. Keeps only its hash. Immutable, any thread. */
public final class BearerToken {
    private static final String BEARER = "bearer ";
    private static final int MIN_LENGTH = 16;
    private static final int MAX_LENGTH = 4_096;

    private final byte[] hash;

    private BearerToken(byte[] hash) {
        this.hash = hash;
    }

    /**
     * Reads a token from a file, without white space around it.
     *
     * @throws IOException when the file cannot be read, or the token is too short or too long; the message is one line
     *     without the token
     */
    public static BearerToken read(Path file) throws IOException {
        String token = text(file).strip();
        if (token.length() < MIN_LENGTH || token.length() > MAX_LENGTH) {
            throw new IOException("the token in " + file + " must have " + MIN_LENGTH + " to " + MAX_LENGTH
                    + " characters; write one, for example with: openssl rand -hex 32");
        }
        return new BearerToken(hash(token));
    }

    private static String text(Path file) throws IOException {
        try {
            if (Files.size(file) <= 2 * MAX_LENGTH) {
                return Files.readString(file, StandardCharsets.ISO_8859_1);
            }
        } catch (IOException unreadable) {
            throw new IOException("cannot read " + file + ": " + FileProblem.reason(unreadable), unreadable);
        }
        throw new IOException("the token in " + file + " has more than " + MAX_LENGTH + " characters");
    }

    /** Whether the header {@code Authorization} contains this token. Takes the same time for each wrong one. */
    public boolean isIn(String authorization) {
        return authorization.length() <= BEARER.length() + MAX_LENGTH
                && authorization.toLowerCase(Locale.ROOT).startsWith(BEARER)
                && MessageDigest.isEqual(
                        hash(authorization.substring(BEARER.length()).strip()), hash);
    }

    private static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.ISO_8859_1));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
