package io.journalq.seal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyVaultTest {
    private static final char[] PASSPHRASE = "correct horse".toCharArray();
    private static final char[] LONG_PASSPHRASE = "correct horse battery staple".toCharArray();
    private static final byte[] PLAIN = {1, 2, 3};
    private static final int FEW_ITERATIONS = 1_000;

    @TempDir
    private Path directory;

    @Test
    void shouldHaveItsKeysWhenTheFileIsOpenedAgain() throws IOException {
        Path file = directory.resolve("keyring");
        KeyVault vault = KeyVault.create(file, PASSPHRASE, FEW_ITERATIONS);
        RawKeyPair root = vault.makeRoot();
        RawKeyPair role = vault.makeRole("readers", 1);

        KeyVault opened = KeyVault.open(file, PASSPHRASE);

        assertThat(opened.root()).isEqualTo(root);
        assertThat(opened.role("readers", 1)).isEqualTo(role);
        assertThat(opened.role("readers", 2)).isNull();
        assertThat(opened.names()).containsExactlyInAnyOrder("root", "role/readers/1");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(Files.readString(file, ISO_8859_1)).doesNotContain("readers");
    }

    @Test
    void shouldFailWhenThePassphraseOrAByteIsWrong() throws IOException {
        Path file = directory.resolve("keyring");
        KeyVault.create(file, PASSPHRASE, FEW_ITERATIONS).makeRoot();

        assertThatThrownBy(() -> KeyVault.open(file, "wrong".toCharArray())).isInstanceOf(IOException.class);
        byte[] bytes = Files.readAllBytes(file);
        for (int i = 0; i < bytes.length; i += 7) {
            if (i >= 4 && i < 8) {
                // The number of iterations, which would only take longer.
                continue;
            }
            byte[] changed = bytes.clone();
            changed[i] ^= 0x11;
            Files.write(file, changed);
            assertThatThrownBy(() -> KeyVault.open(file, PASSPHRASE))
                    .as("byte %d", i)
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void shouldFailWhenOthersMayReadTheFile() throws IOException {
        Path file = directory.resolve("keyring");
        KeyVault.create(file, PASSPHRASE, FEW_ITERATIONS);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

        assertThatThrownBy(() -> KeyVault.open(file, PASSPHRASE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("chmod 600");
    }

    @Test
    void shouldNotReplaceAKeyWhenItExists() throws IOException {
        KeyVault vault = KeyVault.inMemory();
        RawKeyPair root = vault.makeRoot();

        assertThatThrownBy(vault::makeRoot).isInstanceOf(IOException.class);
        assertThat(vault.root()).isEqualTo(root);
    }

    @Test
    void shouldNotLoseAKeyWhenAnotherProcessHasAddedItMeanwhile() throws IOException {
        // given
        Path file = directory.resolve("keyring");
        KeyVault.create(file, PASSPHRASE, FEW_ITERATIONS).makeRoot();
        KeyVault one = KeyVault.open(file, PASSPHRASE);
        KeyVault other = KeyVault.open(file, PASSPHRASE);
        RawKeyPair role = other.makeRole("readers", 1);

        // when
        assertThatThrownBy(() -> one.makeRole("auditors", 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("was changed by another process");

        // then
        assertThat(one.role("auditors", 1)).isNull();
        KeyVault opened = KeyVault.open(file, PASSPHRASE);
        assertThat(opened.role("readers", 1)).isEqualTo(role);
        assertThat(opened.names()).containsExactlyInAnyOrder("root", "role/readers/1");
        // and who has written last can write again
        other.makeRole("readers", 2);
    }

    @Test
    void shouldRefuseAKeyWhenTheFileCouldNotBeOpenedWithIt() throws IOException {
        // given a file that is almost as large as a file can be
        Path file = directory.resolve("keyring");
        KeyVault.create(file, PASSPHRASE, FEW_ITERATIONS);
        Map<String, KeyVault.StoredKey> keys = new TreeMap<>();
        RawKeyPair role = RawKeyPair.ofX25519();
        for (int generation = 100_001; generation < 108_738; generation++) {
            keys.put("role/readers-of-orders/" + generation, KeyVault.StoredKey.of(role));
        }
        byte[] large = FileKeyring.create(PASSPHRASE, FEW_ITERATIONS).encode(keys);
        assertThat(large).hasSizeBetween(1024 * 1024 - 90, 1024 * 1024);
        Files.write(file, large);
        KeyVault vault = KeyVault.open(file, PASSPHRASE);

        // when
        assertThatThrownBy(() -> vault.makeRole("readers", 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("would be larger than 1048576 bytes");

        // then the other keys are not lost
        assertThat(vault.role("readers", 1)).isNull();
        assertThat(KeyVault.open(file, PASSPHRASE).names()).isEqualTo(keys.keySet());
    }

    @Test
    void shouldFailToDestroyAKeyAsLongAsItStaysInTheFile() throws IOException {
        // given
        Path file = directory.resolve("keyring");
        KeyVault.create(file, PASSPHRASE, FEW_ITERATIONS).makeRole("readers", 1);
        KeyVault one = KeyVault.open(file, PASSPHRASE);
        KeyVault.open(file, PASSPHRASE).makeRole("readers", 2);

        for (int attempt = 1; attempt <= 2; attempt++) {
            // when
            assertThatThrownBy(() -> one.destroyRole("readers", 1))
                    .as("attempt %d", attempt)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("was changed by another process");

            // then
            assertThat(one.names()).containsExactly("role/readers/1");
        }
        assertThat(KeyVault.open(file, PASSPHRASE).names()).contains("role/readers/1");
    }

    @Test
    void shouldKeepAnRsaKeyInEachFormOfFile() throws IOException {
        for (String name : List.of("keyring", "keyring.p12")) {
            // given
            Path file = directory.resolve(name);
            KeyVault vault = name.endsWith(".p12")
                    ? KeyVault.create(file, LONG_PASSPHRASE)
                    : KeyVault.create(file, LONG_PASSPHRASE, FEW_ITERATIONS);
            RawKeyPair root = vault.makeRoot();
            RawKeyPair sender = vault.makeSender("billing");
            RawKeyPair role = vault.makeRole("readers", 1);
            vault.addRole("readers", 2, TestRsa.KEY);
            vault.makeRole("readers", 3);
            vault.destroyRole("readers", 3);

            // when
            KeyVault opened = KeyVault.open(file, LONG_PASSPHRASE);

            // then
            assertThat(opened.names())
                    .as(name)
                    .containsExactlyInAnyOrder("root", "sender/billing", "role/readers/1", "role/readers/2");
            assertThat(opened.root()).isEqualTo(root);
            assertThat(opened.sender("billing")).isEqualTo(sender);
            assertThat(opened.role("readers", 1)).isEqualTo(role);
            assertThat(opened.role("readers", 2)).isInstanceOfSatisfying(RsaRoleKey.class, rsa -> {
                assertThat(rsa.publicKey()).isEqualTo(TestRsa.KEY.publicKey());
                assertThat(rsa.privateKey()).isEqualTo(TestRsa.KEY.privateKey());
            });
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            assertThatThrownBy(() -> KeyVault.open(file, PASSPHRASE))
                    .as(name)
                    .isInstanceOf(IOException.class)
                    .hasMessage("the passphrase of " + file + " is wrong, or the file was changed");
        }
    }

    @Test
    void shouldOpenAKeyStoreThatKeytoolHasMadeAndKeepItsEntries() throws Exception {
        // given
        Path file = copy("keytool.p12");

        // when
        KeyVault vault = KeyVault.open(file, LONG_PASSPHRASE);
        RawKeyPair added = vault.makeRole("auditors", 1);
        vault = KeyVault.open(file, LONG_PASSPHRASE);

        // then
        assertThat(vault.names())
                .containsExactlyInAnyOrder("root", "role/readers/1", "role/readers/2", "role/auditors/1");
        assertThat(RawKeyPair.verify(vault.root().publicKey(), vault.root().sign(new byte[9]), new byte[9]))
                .isTrue();
        assertThat(vault.role("auditors", 1)).isEqualTo(added);
        RawKeyPair montgomery = (RawKeyPair) vault.role("readers", 2);
        RawKeyPair other = RawKeyPair.ofX25519();
        assertThat(montgomery.agree(other.publicKey())).isEqualTo(other.agree(montgomery.publicKey()));
        RsaRoleKey rsa = (RsaRoleKey) vault.role("readers", 1);
        assertThat(rsa.decrypt(RsaRoleKey.encrypt(rsa.publicKey(), PLAIN))).isEqualTo(PLAIN);
        KeyStore store = KeyStore.getInstance(file.toFile(), LONG_PASSPHRASE);
        assertThat(store.getCertificate("role/readers/1"))
                .as("other programs still find the key")
                .isNotNull();
    }

    @Test
    void shouldRefuseWeakAndForeignKeysInAKeyStore() throws Exception {
        Path weak = copy("weak.p12");
        assertThatThrownBy(() -> KeyVault.open(weak, LONG_PASSPHRASE))
                .isInstanceOf(IOException.class)
                .hasMessage(weak + " is not a usable keyring: key role/readers/1: an RSA key must have 3072 to 8192"
                        + " bits; this one has 2048");
        Path foreign = copy("foreign.p12");
        assertThatThrownBy(() -> KeyVault.open(foreign, LONG_PASSPHRASE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(
                        "entry web is no key with the name root, sender/NAME, role/NAME/GENERATION or token"
                                + "/TOPIC");
        Path damaged = Files.write(directory.resolve("damaged.p12"), new byte[] {0x30, 3, 2, 1, 0});
        Files.setPosixFilePermissions(damaged, PosixFilePermissions.fromString("rw-------"));
        assertThatThrownBy(() -> KeyVault.open(damaged, LONG_PASSPHRASE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("it is not of the form PKCS#12");
        assertThatThrownBy(() -> KeyVault.create(directory.resolve("short.p12"), PASSPHRASE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("must have 20 characters");
        KeyVault upper = KeyVault.create(directory.resolve("upper.p12"), LONG_PASSPHRASE);
        assertThatThrownBy(() -> upper.makeSender("Billing"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no names with upper case");
        assertThat(upper.names()).isEmpty();
    }

    @Test
    void shouldNotBringADestroyedKeyBackWhenAnotherOneTakesItsName() throws Exception {
        // given
        Path file = copy("keytool.p12");
        KeyVault vault = KeyVault.open(file, LONG_PASSPHRASE);

        // when
        vault.destroyRole("readers", 2);
        RawKeyPair made = vault.makeRole("readers", 2);

        // then
        assertThat(KeyVault.open(file, LONG_PASSPHRASE).role("readers", 2)).isEqualTo(made);
    }

    private Path copy(String resource) throws IOException {
        Path file = Files.copy(Path.of("src", "test", "resources", resource), directory.resolve(resource));
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
}
