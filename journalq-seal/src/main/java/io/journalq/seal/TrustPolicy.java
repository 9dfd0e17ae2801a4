package io.journalq.seal;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.KeyLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * Which root key is trusted, and which version of its registry is the newest that this machine has seen. A broker can
 * return an old registry, but it is refused if a newer one has been seen before, also by another process with the same
 * file. Thread-safe.
 */
public final class TrustPolicy {
    private static final Pattern FINGERPRINT = Pattern.compile("[0-9a-f]{64}");
    private static final String ROOT = "root";
    private static final String VERSION = "version";

    /** Null until the first registry, if the first key that is seen is trusted. */
    private String root;

    /** Null if nothing is remembered across restarts. */
    private final Path memory;

    private final ReentrantLock lock = new ReentrantLock();
    private long newestVersion;

    private TrustPolicy(String root, Path memory) {
        this.root = root;
        this.memory = memory;
        if (memory != null && Files.exists(memory)) {
            recall();
        }
    }

    /**
     * Trusts one root key.
     *
     * @param fingerprint {@link Registry#fingerprint} of the key
     * @param memory the file that remembers the newest version; created if it does not exist. Null to remember nothing
     *     across restarts, which lets a broker return an old registry after one
     */
    public static TrustPolicy pinned(String fingerprint, Path memory) {
        if (!FINGERPRINT.matcher(fingerprint).matches()) {
            throw new IllegalArgumentException("the fingerprint of a root key has 64 hexadecimal digits in lower case");
        }
        return new TrustPolicy(fingerprint, memory);
    }

    /**
     * Trusts the first root key that is seen, and only that one from then on. A broker that is hostile from the beginning
     * can present a key of its own.
     *
     * @param memory the file that remembers the key and the newest version
     */
    public static TrustPolicy onFirstUse(Path memory) {
        return new TrustPolicy(null, memory);
    }

    private void recall() {
        Properties properties = new Properties();
        try (var in = Files.newBufferedReader(memory)) {
            properties.load(in);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException("cannot read " + memory + ": " + unreadable.getMessage(), unreadable);
        }
        String remembered = properties.getProperty(ROOT);
        if (root == null) {
            root = remembered;
        } else if (!root.equals(remembered)) {
            throw new IllegalArgumentException(memory + " belongs to another root key; use another file");
        }
        newestVersion = Math.max(newestVersion, Long.parseLong(properties.getProperty(VERSION, "0")));
    }

    /**
     * Reads the newest registry that the root key has signed.
     *
     * @throws SealingException if there is none, or if a newer one has been seen before
     */
    Registry newest(KeyLog keys) {
        while (true) {
            long seenBefore = seenVersion();
            Registry.Signed newest = read(keys);
            lock.lock();
            try {
                if (newest == null) {
                    throw new SealingException(
                            "topic " + Registry.TOPIC + " has no registry that the trusted root key has signed", null);
                }
                if (accept(newest, seenBefore)) {
                    return newest.registry();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private Registry.Signed read(KeyLog keys) {
        Registry.Signed[] newest = {null};
        keys.readAll(Registry.TOPIC, entry -> {
            if (Arrays.equals(entry.key(), Registry.RECORD_KEY)) {
                Registry.Signed signed = Registry.decode(entry.value());
                if (signed != null && isNewer(signed, newest[0])) {
                    newest[0] = signed;
                }
            }
        });
        return newest[0];
    }

    /** Whether any version was seen before. */
    boolean hasSeenRegistry() {
        return seenVersion() > 0;
    }

    private long seenVersion() {
        lock.lock();
        try {
            recallNewer();
            return newestVersion;
        } finally {
            lock.unlock();
        }
    }

    private boolean isNewer(Registry.Signed signed, Registry.Signed than) {
        String trusted = root;
        if (trusted != null && !trusted.equals(signed.rootFingerprint())) {
            return false;
        }
        if (than == null) {
            return true;
        }
        // Without a pinned key, the first one counts.
        return than.rootFingerprint().equals(signed.rootFingerprint())
                && signed.registry().version() > than.registry().version();
    }

    /**
     * Returns false if the registry has to be read again.
     *
     * @param seenBefore the newest version that had been seen when the read began
     */
    private boolean accept(Registry.Signed signed, long seenBefore) {
        recallNewer();
        if (isOvertaken(signed, seenBefore)) {
            return false;
        }
        check(signed);
        if (isUnseen(signed)) {
            // First, so that a version that cannot be remembered is refused each time, and not only once.
            if (!remember(signed, seenBefore)) {
                return false;
            }
            root = signed.rootFingerprint();
            newestVersion = signed.registry().version();
            KeyEvents.registryAccepted(signed.registry(), root);
        }
        return true;
    }

    /** Whether others have seen a newer version during the read, which may have begun before that was published. */
    private boolean isOvertaken(Registry.Signed signed, long seenBefore) {
        long version = signed.registry().version();
        return version >= seenBefore && version < newestVersion;
    }

    private boolean isUnseen(Registry.Signed signed) {
        return root == null || signed.registry().version() > newestVersion;
    }

    private void check(Registry.Signed signed) {
        if (root != null && !root.equals(signed.rootFingerprint())) {
            throw new SealingException("another process has seen another root key first, which is trusted", null);
        }
        long version = signed.registry().version();
        if (version < newestVersion) {
            KeyEvents.registryRefused(version, newestVersion);
            throw new SealingException(
                    "the registry of the broker has version " + version + ", but version " + newestVersion
                            + " has been seen before",
                    null);
        }
    }

    /** Other processes remember in the same file what they have seen. */
    private void recallNewer() {
        if (memory == null || !Files.exists(memory)) {
            return;
        }
        try {
            recall();
        } catch (IllegalArgumentException unusable) {
            throw new SealingException(unusable.getMessage(), unusable);
        }
    }

    private boolean remember(Registry.Signed signed, long seenBefore) {
        if (memory == null) {
            return true;
        }
        try {
            return FileTurn.take(memory, () -> {
                recallNewer();
                if (isOvertaken(signed, seenBefore)) {
                    return false;
                }
                check(signed);
                Path written = memory.resolveSibling(memory.getFileName() + ".new");
                Files.writeString(
                        written,
                        ROOT + "=" + signed.rootFingerprint() + "\n" + VERSION + "="
                                + signed.registry().version() + "\n");
                FileTurn.replace(memory, written);
                return true;
            });
        } catch (IOException failed) {
            throw new SealingException("cannot write " + memory + ": " + failed.getMessage(), failed);
        }
    }
}
