package io.journalq.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BearerTokenTest {
    @TempDir
    private Path directory;

    @Test
    void shouldSayWhyAFileHasNoToken() throws Exception {
        Path file = directory.resolve("token");
        assertThatThrownBy(() -> BearerToken.read(file))
                .isInstanceOf(IOException.class)
                .hasMessage("cannot read " + file + ": there is no such file");

        Files.createDirectory(file);
        assertThatThrownBy(() -> BearerToken.read(file))
                .isInstanceOf(IOException.class)
                .hasMessage("cannot read " + file + ": Is a directory");
    }

    @Test
    void shouldReadATokenWithoutTheSpaceAroundIt() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), " 0123456789abcdef\n");

        assertThat(BearerToken.read(file).isIn("Bearer 0123456789abcdef")).isTrue();
    }
}
