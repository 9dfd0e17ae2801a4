package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramCredential;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Passwords that were right within the last five minutes, so that a client of HTTP, which sends its password with each
 * request, does not cost milliseconds each time. Keeps no password, but its keyed hash. Any thread.
 */
final class KnownPasswords {
    static final int MAX_ENTRIES = 1_000;
    static final long LIFETIME_NANOS = TimeUnit.MINUTES.toNanos(5);

    private static final String HMAC = "HmacSHA256";

    private final SecretKeySpec key;
    private final LongSupplier nanoTime;
    /** By keyed hash, the least recently used first. Guarded by itself. */
    private final Map<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Entry> eldest) {
            return size() > MAX_ENTRIES;
        }
    };

    /** @param credential that the password matched; the entry is void when the user has another one */
    private record Entry(ScramCredential credential, long endNanos) {}

    /** @param secret of this process */
    KnownPasswords(byte[] secret, LongSupplier nanoTime) {
        this.key = new SecretKeySpec(secret, HMAC);
        this.nanoTime = nanoTime;
    }

    boolean contains(String user, byte[] password, ScramCredential current) {
        String hash = hash(user, password);
        synchronized (entries) {
            Entry entry = entries.get(hash);
            return entry != null && entry.credential().equals(current) && nanoTime.getAsLong() - entry.endNanos() < 0;
        }
    }

    void add(String user, byte[] password, ScramCredential credential) {
        String hash = hash(user, password);
        synchronized (entries) {
            entries.put(hash, new Entry(credential, nanoTime.getAsLong() + LIFETIME_NANOS));
        }
    }

    private String hash(String user, byte[] password) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(key);
            mac.update(user.getBytes(StandardCharsets.UTF_8));
            mac.update((byte) 0); // no name of a user contains it
            return Base64.getEncoder().encodeToString(mac.doFinal(password));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
