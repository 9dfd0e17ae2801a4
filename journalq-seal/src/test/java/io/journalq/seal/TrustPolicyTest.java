package io.journalq.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.KeyLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrustPolicyTest {
    @TempDir
    private Path directory;

    private SealedWorld world;

    @BeforeEach
    void begin() throws Exception {
        world = new SealedWorld();
    }

    private List<KeyLog.Entry> entries() {
        return world.keys.entries(Registry.TOPIC);
    }

    @Test
    void shouldReturnTheNewestVersionWhenSeveralAreInTheTopic() {
        Registry newest = TrustPolicy.pinned(world.root, null).newest(world.keys);

        assertThat(newest.version()).isEqualTo(world.admin.registry().version()).isGreaterThan(1);
        assertThat(newest.topic("orders").roles()).containsExactly(SealedWorld.ROLE);
        assertThat(newest.toString()).isEqualTo(world.admin.registry().toString());
    }

    @Test
    void shouldRefuseAnOldVersionWhenANewerOneWasSeenBeforeARestart() {
        // given
        Path memory = directory.resolve("memory");
        long newest = TrustPolicy.pinned(world.root, memory).newest(world.keys).version();

        // when the broker returns only the first version
        List<KeyLog.Entry> first = List.of(entries().get(0));
        world.keys.topics.put(Registry.TOPIC, first);

        // then
        TrustPolicy restarted = TrustPolicy.pinned(world.root, memory);
        assertThatThrownBy(() -> restarted.newest(world.keys))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("version 1, but version " + newest + " has been seen before");
    }

    @Test
    void shouldRefuseARegistryWhenAnotherRootHasSignedIt() throws Exception {
        KeyVault other = KeyVault.inMemory();
        byte[] forged = world.admin.registry().sign(other.makeRoot());
        entries().clear();
        world.keys.append(Registry.TOPIC, Registry.RECORD_KEY, forged);

        TrustPolicy pinned = TrustPolicy.pinned(world.root, null);

        assertThatThrownBy(() -> pinned.newest(world.keys)).isInstanceOf(SealingException.class);
    }

    @Test
    void shouldRefuseAnotherRootWhenTheFirstOneIsTrusted() throws Exception {
        Path memory = directory.resolve("memory");
        TrustPolicy.onFirstUse(memory).newest(world.keys);
        byte[] forged = world.admin.registry().sign(KeyVault.inMemory().makeRoot());
        entries().clear();
        world.keys.append(Registry.TOPIC, Registry.RECORD_KEY, forged);

        TrustPolicy restarted = TrustPolicy.onFirstUse(memory);

        assertThatThrownBy(() -> restarted.newest(world.keys)).isInstanceOf(SealingException.class);
    }

    @Test
    void shouldIgnoreARecordWhenAnyByteOfItIsChanged() {
        byte[] signed = entries().get(entries().size() - 1).value();
        for (int i = 0; i < signed.length; i++) {
            byte[] changed = signed.clone();
            changed[i] ^= 0x11;
            assertThat(Registry.decode(changed)).as("byte %d", i).isNull();
        }
    }

    @Test
    void shouldRefuseAgainWhenTheVersionCouldNotBeRemembered() throws Exception {
        // given
        Path memory = directory.resolve("later").resolve("memory");
        TrustPolicy policy = TrustPolicy.pinned(world.root, memory);
        assertThatThrownBy(() -> policy.newest(world.keys)).isInstanceOf(SealingException.class);

        // when
        assertThatThrownBy(() -> policy.newest(world.keys))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("cannot write " + memory);

        // then
        Files.createDirectory(memory.getParent());
        long newest = policy.newest(world.keys).version();
        assertThat(Files.readString(memory)).contains("version=" + newest);
    }

    @Test
    void shouldRefuseAnOldVersionWhenAnotherProcessHasSeenANewerOne() throws Exception {
        // given a process that has seen the first version, and another that has seen the newest
        Path memory = directory.resolve("memory");
        List<KeyLog.Entry> all = List.copyOf(entries());
        world.keys.topics.put(Registry.TOPIC, all.subList(0, 1));
        TrustPolicy first = TrustPolicy.pinned(world.root, memory);
        first.newest(world.keys);
        byte[] between = Registry.create(SealedWorld.REALM)
                .withSender("late", RawKeyPair.ofEd25519().publicKey(), List.of("*"))
                .sign(world.adminVault.root());
        world.keys.topics.put(Registry.TOPIC, all);
        long newest = TrustPolicy.pinned(world.root, memory).newest(world.keys).version();

        // when the broker shows the first process a version in between
        world.keys.topics.put(Registry.TOPIC, List.of(all.get(0), new KeyLog.Entry(1, Registry.RECORD_KEY, between)));

        // then
        assertThatThrownBy(() -> first.newest(world.keys))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("version " + newest + " has been seen before");
        assertThat(Files.readString(memory)).contains("version=" + newest);
    }

    @Test
    void shouldReadAgainWhenAnotherProcessHasSeenANewerVersionMeanwhile() {
        // given a process that has almost read the topic when the next version is published
        Path memory = directory.resolve("memory");
        List<KeyLog.Entry> all = List.copyOf(entries());
        world.keys.topics.put(Registry.TOPIC, all.subList(0, all.size() - 1));
        TrustPolicy other = TrustPolicy.pinned(world.root, memory);
        KeyLog slow = new KeyLog() {
            @Override
            public long append(String topic, byte[] key, byte[] value) {
                throw new AssertionError("a registry is only read");
            }

            @Override
            public Entry read(String topic, long offset) {
                throw new AssertionError("a registry is read as a whole");
            }

            @Override
            public void readAll(String topic, Consumer<Entry> each) {
                world.keys.readAll(topic, each);
                // and another process has seen it
                world.keys.topics.put(Registry.TOPIC, all);
                other.newest(world.keys);
            }
        };

        // when
        Registry newest = TrustPolicy.pinned(world.root, memory).newest(slow);

        // then
        assertThat(newest.version()).isEqualTo(other.newest(world.keys).version());
    }

    @Test
    void shouldTrustTheRootThatAnotherProcessHasSeenFirst() throws Exception {
        // given two processes that have seen no root yet
        Path memory = directory.resolve("memory");
        TrustPolicy first = TrustPolicy.onFirstUse(memory);
        TrustPolicy second = TrustPolicy.onFirstUse(memory);
        first.newest(world.keys);

        // when the broker shows the second one a registry of another root, with a higher version
        byte[] forged = world.admin
                .registry()
                .withSender("late", RawKeyPair.ofEd25519().publicKey(), List.of("*"))
                .sign(KeyVault.inMemory().makeRoot());
        world.keys.topics.put(Registry.TOPIC, List.of(new KeyLog.Entry(0, Registry.RECORD_KEY, forged)));

        // then
        assertThatThrownBy(() -> second.newest(world.keys)).isInstanceOf(SealingException.class);
        assertThat(Files.readString(memory)).contains("root=" + world.root);
    }
}
