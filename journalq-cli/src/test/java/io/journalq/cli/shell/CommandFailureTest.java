package io.journalq.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CommandFailureTest {
    private static final Path FILE = Path.of("secret");

    @Test
    void shouldSayWhyAFileCannotBeRead() {
        assertThat(CommandFailure.unreadable(FILE, new NoSuchFileException("secret")))
                .hasMessage("cannot find secret");
        assertThat(CommandFailure.unreadable(FILE, new AccessDeniedException("secret")))
                .hasMessage("cannot read secret: permission denied");
        assertThat(CommandFailure.unreadable(FILE, new IOException("Is a directory")))
                .hasMessage("cannot read secret: Is a directory");
        assertThat(CommandFailure.unreadable(FILE, new MalformedInputException(1)))
                .hasMessage("cannot read secret: it is not text in UTF-8");
    }
}
