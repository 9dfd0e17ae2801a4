package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.KeyLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an administrator learns when the registry in the topic is not the one that was published. */
class SealAdminTest {
    private SealedWorld world;

    @BeforeEach
    void begin() throws Exception {
        world = new SealedWorld();
    }

    @AfterEach
    void end() {
        world.close();
    }

    /** The topics of keys of a broker that acknowledges versions of the registry, and does something else with them. */
    private abstract class HostileLog implements KeyLog {
        @Override
        public Entry read(String topic, long offset) {
            return world.keys.read(topic, offset);
        }

        @Override
        public void readAll(String topic, Consumer<Entry> each) {
            world.keys.readAll(topic, each);
        }
    }

    private SealAdmin admin(KeyLog keys) {
        return new SealAdmin(world.adminVault, keys, TrustPolicy.pinned(world.root, null));
    }

    @Test
    void shouldFailWhenTheBrokerDropsARevocationThatItHasAcknowledged() {
        SealAdmin admin = admin(new HostileLog() {
            @Override
            public long append(String topic, byte[] key, byte[] value) {
                return world.keys.entries(topic).size();
            }
        });

        assertThatThrownBy(() -> admin.revokeSender(SENDER))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("was not published");
    }

    @Test
    void shouldFailWhenAnotherAdministratorHasPublishedTheSameVersionBefore() {
        // given another administrator who revokes the sender between reading and publishing
        SealAdmin admin = admin(new HostileLog() {
            @Override
            public long append(String topic, byte[] key, byte[] value) {
                world.admin.revokeSender(SENDER);
                return world.keys.append(topic, key, value);
            }
        });

        // when
        assertThatThrownBy(() -> admin.change(registry -> registry.withTopic("late", SealMode.BATCH, List.of(ROLE))))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("was not published");

        // then
        assertThat(world.admin.registry().topic("late")).isNull();
    }

    @Test
    void shouldPublishNoRegistryThatClientsRefuseBecauseOfItsSize() {
        // given
        long version = world.admin.registry().version();
        int records = world.keys.entries(Registry.TOPIC).size();
        List<String> topics = IntStream.range(0, 5_000)
                .mapToObj(number -> "t".repeat(240) + number)
                .toList();

        // when
        assertThatThrownBy(() -> world.admin.change(registry ->
                        registry.withSender("large", RawKeyPair.ofEd25519().publicKey(), topics)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("clients accept 1048576");

        // then
        assertThat(world.keys.entries(Registry.TOPIC)).hasSize(records);
        assertThat(world.admin.registry().version()).isEqualTo(version);
    }

    @Test
    void shouldRevokeSendersHoweverFullTheRegistryIs() {
        // given a registry to which nothing can be added
        RawKeyPair key = RawKeyPair.ofEd25519();
        int left = 1024 * 1024
                - world.admin.registry().sign(world.adminVault.root()).length
                - "sender large ".length()
                - 44
                - " \n".length();
        while (!isAdded(key, topics(left))) {
            left--;
        }

        // when
        world.admin.revokeSender(SENDER);
        Registry registry = world.admin.revokeSender("large");

        // then
        assertThat(registry.senders())
                .allSatisfy(sender -> assertThat(sender.revokedFrom()).isNotNegative());
    }

    private boolean isAdded(RawKeyPair key, List<String> topics) {
        try {
            world.admin.change(registry -> registry.withSender("large", key.publicKey(), topics));
            return true;
        } catch (IllegalArgumentException full) {
            return false;
        }
    }

    /** Names that have a number of characters together, with the commas between them. */
    private static List<String> topics(int characters) {
        List<String> names = new ArrayList<>();
        int left = characters;
        for (int number = 1_000; left > 245; number++) {
            names.add("t".repeat(240) + number);
            left -= 245;
        }
        names.add("u".repeat(left));
        return names;
    }

    /** Compaction keeps the newest record of the topic. */
    @Test
    void shouldKeepWhatAnotherAdministratorHasPublishedWhenTheTopicIsCompacted() {
        // given another administrator who revokes the sender, and changes more, between reading and publishing
        AtomicBoolean first = new AtomicBoolean(true);
        SealAdmin admin = admin(new HostileLog() {
            @Override
            public long append(String topic, byte[] key, byte[] value) {
                if (first.getAndSet(false)) {
                    world.admin.revokeSender(SENDER);
                    world.admin.change(registry -> registry.withTopic("early", SealMode.BATCH, List.of(ROLE)));
                }
                return world.keys.append(topic, key, value);
            }
        });
        assertThatThrownBy(() -> admin.change(registry -> registry.withTopic("late", SealMode.BATCH, List.of(ROLE))))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("was not published");
        String published = world.admin.registry().toString();

        // when
        List<KeyLog.Entry> entries = world.keys.entries(Registry.TOPIC);
        entries.subList(0, entries.size() - 1).clear();

        // then
        assertThat(world.admin.registry()).hasToString(published);
        assertThat(world.admin.registry().sender(SENDER).revokedFrom()).isNotNegative();
        assertThat(world.admin.registry().topic("early")).isNotNull();
    }

    @Test
    void shouldFoundARegistryWithTheSameRootKeyWhenPublishingItHasFailed() throws Exception {
        // given
        world.keys.topics.clear();
        KeyVault vault = KeyVault.inMemory();
        KeyLog away = new HostileLog() {
            @Override
            public long append(String topic, byte[] key, byte[] value) {
                throw new SealingException("the broker is away", null);
            }
        };
        assertThatThrownBy(() -> SealAdmin.found("tests", vault, away, TrustPolicy.onFirstUse(null)))
                .hasMessage("the broker is away");
        RawKeyPair root = vault.root();

        // when
        SealAdmin admin = SealAdmin.found("tests", vault, world.keys, TrustPolicy.onFirstUse(null));

        // then
        assertThat(vault.root()).isEqualTo(root);
        assertThat(admin.registry().version()).isEqualTo(1);
        assertThatThrownBy(() -> SealAdmin.found("tests", vault, world.keys, TrustPolicy.onFirstUse(null)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has a registry");
    }

    @Test
    void shouldFoundOneRegistryWhenTwoAdministratorsDoItAtTheSameTime() throws Exception {
        // given another administrator who publishes a registry after this one has found none
        world.keys.topics.clear();
        KeyVault early = KeyVault.inMemory();
        KeyVault late = KeyVault.inMemory();
        AtomicBoolean isFirst = new AtomicBoolean(true);
        KeyLog keys = new HostileLog() {
            @Override
            public long append(String topic, byte[] key, byte[] value) {
                if (isFirst.getAndSet(false)) {
                    try {
                        SealAdmin.found("tests", early, world.keys, TrustPolicy.onFirstUse(null))
                                .change(registry -> registry.withRole(
                                        ROLE, 1, RawKeyPair.ofX25519().publicKey()));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
                return world.keys.append(topic, key, value);
            }
        };

        // then
        assertThatThrownBy(() -> SealAdmin.found("tests", late, keys, TrustPolicy.onFirstUse(null)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another administrator");

        // and clients trust the first one, also when the topic is compacted
        List<KeyLog.Entry> entries = world.keys.entries(Registry.TOPIC);
        entries.subList(0, entries.size() - 1).clear();
        Registry.Signed kept = Registry.decode(entries.get(0).value());
        assertThat(kept.rootFingerprint())
                .isEqualTo(Registry.fingerprint(early.root().publicKey()));
        assertThat(kept.registry().role(ROLE)).isNotNull();
    }

    /** The broker may hide it, or be another one. */
    @Test
    void shouldFoundNoRegistryWhenTheRootKeyHasSignedOneBefore() {
        TrustPolicy trust = TrustPolicy.pinned(world.root, null);
        trust.newest(world.keys);
        world.keys.topics.clear();

        assertThatThrownBy(() -> SealAdmin.found("tests", world.adminVault, world.keys, trust))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has a root key");
        assertThat(world.keys.entries(Registry.TOPIC)).isEmpty();
    }
}
