package io.journalq.seal;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.KeyLog;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The newest registry that a client has read. One thread at a time. */
final class RegistryCache {
    /** A registry that lacks something is read again, but not more often than this. */
    private static final long MIN_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String realm;
    private final TrustPolicy trust;
    private final KeyLog keys;
    private final long maxAgeNanos;
    private Registry registry;
    /** When the read began: what changed during it may be missing. */
    private long readNanos;

    /** Why the last read failed; null if it did not. */
    private RuntimeException failure;

    private long failedNanos;

    RegistryCache(String realm, TrustPolicy trust, KeyLog keys, Duration maxAge) {
        this.realm = realm;
        this.trust = trust;
        this.keys = keys;
        this.maxAgeNanos = maxAge.toNanos();
    }

    /** Returns the registry, after reading it if it is too old. */
    Registry current() {
        if (registry == null || System.nanoTime() - readNanos > maxAgeNanos) {
            read();
        }
        return registry;
    }

    /**
     * As {@link #current()}, for a caller that has waited for its turn. A read that has failed meanwhile counts for it,
     * too: otherwise each of those who wait would fail after a time limit of its own, one after the other.
     *
     * @param sinceNanos when the caller began to wait
     */
    Registry current(long sinceNanos) {
        if (failure != null && failedNanos - sinceNanos > 0) {
            throw new SealingException("the registry could not be read: " + failure.getMessage(), failure);
        }
        return current();
    }

    /** Reads the registry again because it lacks something. Returns whether that was done and found a newer version. */
    boolean refreshed() {
        if (System.nanoTime() - readNanos < MIN_AGE_NANOS) {
            return false;
        }
        long before = registry.version();
        read();
        return registry.version() > before;
    }

    private void read() {
        long beganNanos = System.nanoTime();
        Registry newest;
        try {
            newest = trust.newest(keys);
            if (!newest.realm().equals(realm)) {
                throw new SealingException(
                        "the registry belongs to realm " + newest.realm() + ", but the policy to " + realm, null);
            }
        } catch (RuntimeException failed) {
            failure = failed;
            failedNanos = System.nanoTime();
            throw failed;
        }
        failure = null;
        registry = newest;
        readNanos = beganNanos;
    }

    /** From when on the registry is too old, if it is not read again. */
    long endNanos() {
        return readNanos + maxAgeNanos;
    }
}
