package io.journalq.seal;

import io.journalq.client.Admin;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.SealingException;
import io.journalq.client.error.TopicExistsException;
import io.journalq.client.seal.KeyLog;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * Changes the registry with the root key. Only one administrator at a time may do this. One thread.
 *
 * <pre>{@code
 * SealAdmin admin = SealAdmin.found("production", vault, KeyTopics.of(Admin.builder()), TrustPolicy.onFirstUse(memory));
 * admin.change(registry -> registry.withSender("billing", vault.makeSender("billing").publicKey(), List.of("orders")));
 * admin.change(registry -> registry.withRole("readers", 1, vault.makeRole("readers", 1).publicKey()));
 * admin.change(registry -> registry.withTopic("orders", SealMode.BATCH, List.of("readers")));
 * }</pre>
 */
public final class SealAdmin {
    private static final String CLEANUP_POLICY = "cleanup.policy";
    private static final String COMPACT = "compact";

    /**
     * Mode consistent, by the name that Kafka has as well. If a power loss took a key packet, nobody could read what
     * its sender seals for the next 24 h, and clients would refuse a registry that is older than the lost one.
     */
    private static final String FLUSH_MESSAGES = "flush.messages";

    private static final String EACH_MESSAGE = "1";

    /** How often a version is appended again if each time another administrator publishes a higher one. */
    private static final int MAX_ATTEMPTS = 10;

    private final KeyVault vault;
    private final KeyLog keys;
    private final TrustPolicy trust;

    /**
     * Creates an administrator of a registry that exists.
     *
     * @param vault has the root key
     */
    public SealAdmin(KeyVault vault, KeyLog keys, TrustPolicy trust) {
        this.vault = vault;
        this.keys = keys;
        this.trust = trust;
    }

    /**
     * Creates the two topics of keys, unless they exist. They have the delivery mode {@code consistent}.
     *
     * @param replicas the replication factor; {@link NewTopic#BROKER_DEFAULT} for that of the broker
     */
    public static void createTopics(Admin admin, int replicas) {
        for (String topic : List.of(Registry.TOPIC, KeyPacket.TOPIC)) {
            try {
                admin.createTopic(NewTopic.of(topic, 1)
                        .withReplicationFactor(replicas)
                        .withConfig(CLEANUP_POLICY, COMPACT)
                        .withConfig(FLUSH_MESSAGES, EACH_MESSAGE));
            } catch (TopicExistsException exists) {
                // Created by an earlier attempt.
            }
        }
    }

    /**
     * Makes a root key and the first version of the registry. A root key that the vault has already, because publishing
     * the registry has failed before, is used.
     *
     * @throws IOException if the vault cannot be written
     * @throws IllegalStateException if there is a registry, or the root key of the vault has signed one before, or
     *     another administrator has published one meanwhile
     */
    public static SealAdmin found(String realm, KeyVault vault, KeyLog keys, TrustPolicy trust) throws IOException {
        Registry first = Registry.create(realm);
        RawKeyPair known = vault.root();
        String refusal = known == null ? "" : "the keyring has a root key, and ";
        keys.readAll(Registry.TOPIC, entry -> {
            if (Registry.decode(entry.value()) != null) {
                throw new IllegalStateException(refusal + "topic " + Registry.TOPIC + " has a registry");
            }
        });
        if (known != null && trust.hasSeenRegistry()) {
            throw new IllegalStateException(refusal + "the broker does not return its registry");
        }
        RawKeyPair root = known == null ? vault.makeRoot() : known;
        keys.append(Registry.TOPIC, Registry.RECORD_KEY, first.sign(root));
        Published counts = published(keys);
        if (counts == null || !counts.signed.rootFingerprint().equals(Registry.fingerprint(root.publicKey()))) {
            keepPublished(keys, counts);
            throw new IllegalStateException(
                    "the registry was not published: topic " + Registry.TOPIC + " has none of this root key, or another"
                            + " administrator has published one at the same time, which counts");
        }
        KeyEvents.registryPublished(null, first);
        return new SealAdmin(vault, keys, trust);
    }

    /** A version of a registry, and its record. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Published(Registry.Signed signed, byte[] value) {}

    /** The newest version of the root key that was published first, as those see it who trust on first use. */
    private static Published published(KeyLog keys) {
        Published[] newest = {null};
        keys.readAll(Registry.TOPIC, entry -> {
            Registry.Signed signed =
                    Arrays.equals(entry.key(), Registry.RECORD_KEY) ? Registry.decode(entry.value()) : null;
            Published before = newest[0];
            if (signed != null
                    && (before == null
                            || (before.signed.rootFingerprint().equals(signed.rootFingerprint())
                                    && signed.registry().version()
                                            > before.signed.registry().version()))) {
                newest[0] = new Published(signed, entry.value());
            }
        });
        return newest[0];
    }

    /** As {@link #appendAgain}, for a registry whose root key is in another vault. */
    private static void keepPublished(KeyLog keys, Published counts) {
        Published newest = counts;
        for (int attempt = 0; attempt < MAX_ATTEMPTS && newest != null; attempt++) {
            keys.append(Registry.TOPIC, Registry.RECORD_KEY, newest.value);
            Published now = published(keys);
            if (now == null
                    || now.signed.registry().version()
                            == newest.signed.registry().version()) {
                return;
            }
            newest = now;
        }
    }

    /** The newest version of the registry. */
    public Registry registry() {
        return trust.newest(keys);
    }

    /**
     * Signs and publishes the next version of the registry, and returns it.
     *
     * @throws SealingException if the broker returns another registry after that, so that nobody can rely on the
     *     change: it has lost this one, or another administrator has published the same version
     */
    public Registry change(UnaryOperator<Registry> change) {
        RawKeyPair root = vault.root();
        if (root == null) {
            throw new IllegalStateException("the keyring has no root key");
        }
        Registry before = registry();
        Registry next = change.apply(before);
        keys.append(Registry.TOPIC, Registry.RECORD_KEY, next.signAfter(before, root));
        Registry published = registry();
        if (!published.toString().equals(next.toString())) {
            SealingException refused = new SealingException(
                    "the change was not published: the broker has acknowledged version " + next.version()
                            + " of the registry, but returns another registry, of version " + published.version()
                            + "; look at it, and make the change again",
                    null);
            try {
                appendAgain(published, next.version(), root);
            } catch (RuntimeException failure) {
                refused.addSuppressed(failure);
            }
            throw refused;
        }
        KeyEvents.registryPublished(before, next);
        return published;
    }

    /**
     * Appends the version that counts behind one that does not, because compaction keeps the newest record and not the
     * highest version. Others may publish meanwhile.
     */
    private void appendAgain(Registry published, long refusedVersion, RawKeyPair root) {
        Registry newest = published;
        for (int attempt = 0; attempt < MAX_ATTEMPTS && newest.version() >= refusedVersion; attempt++) {
            keys.append(Registry.TOPIC, Registry.RECORD_KEY, newest.sign(root));
            Registry now = registry();
            if (now.version() == newest.version()) {
                return;
            }
            newest = now;
        }
    }

    /** Revokes a sender: key packets that it has published until now stay valid, later ones are refused. */
    public Registry revokeSender(String name) {
        AtomicLong end = new AtomicLong();
        keys.readAll(KeyPacket.TOPIC, entry -> end.set(entry.offset() + 1));
        return change(registry -> registry.withoutSender(name, end.get()));
    }
}
