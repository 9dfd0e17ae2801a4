package io.journalq.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OwnerOnlyTest {
    private static final char[] PASSPHRASE = "correct horse battery staple".toCharArray();

    @TempDir
    private Path directory;

    @Test
    void shouldLetOnlyTheOwnerReadAndChange() throws IOException {
        Path file = directory.resolve("file");
        Path inner = directory.resolve("directory");

        OwnerOnly.createFile(file);
        OwnerOnly.createDirectory(inner);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(inner)))
                .isEqualTo("rwx------");
        OwnerOnly.checkFile(file);
        OwnerOnly.checkDirectory(inner);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw--w----", "rw----r--", "rw-----w-"})
    void shouldRefuseAFileThatOthersCanReadOrChange(String permissions) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));

        assertThatThrownBy(() -> OwnerOnly.checkFile(file))
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith("run chmod 600 " + file);
    }

    /** The file system of an archive has none. */
    @Test
    void shouldRefuseAFileSystemWithoutPermissionsInsteadOfCheckingNothing() throws IOException {
        try (FileSystem archive =
                FileSystems.newFileSystem(directory.resolve("archive.zip"), Map.of("create", "true"))) {
            Path keyring = archive.getPath("/my.keys");
            Path subjects = archive.getPath("/subjects");

            assertRefused(() -> KeyVault.create(keyring, PASSPHRASE, 1));
            assertRefused(() -> SubjectKeys.create(subjects, PASSPHRASE));
            assertThat(Files.exists(keyring)).isFalse();
            assertThat(Files.exists(subjects)).isFalse();

            Files.createFile(keyring);
            Files.createDirectory(subjects);
            assertRefused(() -> KeyVault.open(keyring, PASSPHRASE));
            assertRefused(() -> SubjectKeys.open(subjects, PASSPHRASE));
        }
    }

    private static void assertRefused(ThrowingCallable action) {
        assertThatThrownBy(action)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("its file system has no POSIX permissions");
    }
}
