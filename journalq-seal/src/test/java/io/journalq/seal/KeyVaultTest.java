package io.journalq.seal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyVaultTest {
    private static final char[] PASSPHRASE = "correct horse".toCharArray();
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
}
