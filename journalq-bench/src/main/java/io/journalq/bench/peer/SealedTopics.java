package io.journalq.bench.peer;

import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.client.Admin;
import io.journalq.client.KeyTopics;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.seal.KeyLog;
import io.journalq.seal.KeyVault;
import io.journalq.seal.Registry;
import io.journalq.seal.SealAdmin;
import io.journalq.seal.SealMode;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.TrustPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/** Keys and rights for the sealed topics of one broker, which exist as long as the benchmark runs. One thread. */
public final class SealedTopics {
    private static final String REALM = "benchmark";
    private static final String SENDER = "sender";
    private static final String ROLE = "receivers";

    private final SealAdmin registry;
    private final SealPolicy policy;

    /** Makes keys, and a registry in the broker. */
    public SealedTopics(String bootstrap, ConnectionSecurity security) {
        Admin.Builder settings = Admin.builder().bootstrapServers(bootstrap);
        security.apply(settings);
        try (Admin admin = settings.build()) {
            SealAdmin.createTopics(admin, NewTopic.BROKER_DEFAULT);
        }
        KeyVault vault = KeyVault.inMemory();
        KeyLog keys = KeyTopics.of(settings);
        try {
            registry = SealAdmin.found(REALM, vault, keys, TrustPolicy.onFirstUse(null));
            byte[] sender = vault.makeSender(SENDER).publicKey();
            byte[] role = vault.makeRole(ROLE, 1).publicKey();
            registry.change(
                    next -> next.withSender(SENDER, sender, List.of("*")).withRole(ROLE, 1, role));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // The vault has no file.
        }
        policy = SealPolicy.builder()
                .realm(REALM)
                .trust(TrustPolicy.pinned(Registry.fingerprint(vault.root().publicKey()), null))
                .vault(vault)
                .sender(SENDER)
                // A topic is registered just before it is used.
                .registryMaxAge(Duration.ofSeconds(1))
                .build();
    }

    /** The policy of all clients. */
    public SealPolicy policy() {
        return policy;
    }

    /**
     * Lets the clients use a topic.
     *
     * @param signed whether senders sign each batch
     */
    public void add(String topic, boolean signed) {
        registry.change(
                next -> next.withTopic(topic, SealMode.BATCH, List.of(ROLE)).withSignatures(topic, signed));
    }
}
