package io.journalq.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.KeyLog;
import java.nio.file.Path;
import java.util.List;
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
}
