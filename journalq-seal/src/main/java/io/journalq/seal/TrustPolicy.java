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
        Registry.Signed[] newest = {null};
        keys.readAll(Registry.TOPIC, entry -> {
            if (Arrays.equals(entry.key(), Registry.RECORD_KEY)) {
                Registry.Signed signed = Registry.decode(entry.value());
                if (signed != null && isNewer(signed, newest[0])) {
                    newest[0] = signed;
                }
            }
        });
        lock.lock();
        try {
            if (newest[0] == null) {
                throw new SealingException(
                        "topic " + Registry.TOPIC + " has no registry that the trusted root key has signed", null);
            }
            accept(newest[0]);
            return newest[0].registry();
        } finally {
            lock.unlock();
        }
    }

    /** Whether any version was seen before. */
    boolean hasSeenRegistry() {
        lock.lock();
        try {
            recallNewer();
            return newestVersion > 0;
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

    private void accept(Registry.Signed signed) {
        recallNewer();
        check(signed);
        if (isUnseen(signed)) {
            // First, so that a version that cannot be remembered is refused each time, and not only once.
            remember(signed);
            root = signed.rootFingerprint();
            newestVersion = signed.registry().version();
            KeyEvents.registryAccepted(signed.registry(), root);
        }
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

    private void remember(Registry.Signed signed) {
        if (memory == null) {
            return;
        }
        try {
            FileTurn.take(memory, () -> {
                recallNewer();
                check(signed);
                Path written = memory.resolveSibling(memory.getFileName() + ".new");
                Files.writeString(
                        written,
                        ROOT + "=" + signed.rootFingerprint() + "\n" + VERSION + "="
                                + signed.registry().version() + "\n");
                FileTurn.replace(memory, written);
                return memory;
            });
        } catch (IOException failed) {
            throw new SealingException("cannot write " + memory + ": " + failed.getMessage(), failed);
        }
    }
}
