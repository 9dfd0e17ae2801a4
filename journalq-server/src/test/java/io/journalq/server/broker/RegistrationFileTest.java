package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.MemoryFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class RegistrationFileTest {
    private static final Path FIRST = Path.of("first");
    private static final Path SECOND = Path.of("second");

    private final MemoryFileStore store = new MemoryFileStore();

    private RegistrationFile file(boolean secondHasRecords) {
        return new RegistrationFile(
                store, List.of(FIRST, SECOND), directory -> secondHasRecords && directory.equals(SECOND));
    }

    private void put(Path directory, String content) throws IOException {
        store.replace(
                directory.resolve(RegistrationFile.FILE_NAME),
                ByteBuffer.wrap(content.getBytes(StandardCharsets.US_ASCII)),
                true);
    }

    @Test
    void shouldRememberTheLastRegistration() {
        assertThat(file(true).epoch()).isEqualTo(-1);

        file(true).write(7);

        assertThat(file(true).epoch()).isEqualTo(7);
    }

    @Test
    void shouldNameTheRegistrationOfADirectoryThatWasRestoredFromABackup() throws IOException {
        file(true).write(7);

        put(SECOND, "registered 5");

        assertThat(file(true).epoch()).isEqualTo(5);
    }

    @Test
    void shouldNotKnowARegistrationThatADirectoryWithRecordsDoesNotKnow() throws IOException {
        put(FIRST, "registered 7");

        assertThat(file(true).epoch()).isEqualTo(-1);
        assertThat(file(false).epoch()).isEqualTo(7);
        put(SECOND, "damaged");
        assertThat(file(true).epoch()).isEqualTo(-1);
    }
}
