package io.journalq.server.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a start determines how the last run on a data directory ended. */
class ShutdownMarkerTest {
    private static final Path DATA = Path.of("data");
    private static final String FIRST_BOOT = "6f1d1c0a-58b7-4e0e-9f0c-0c2f6a1f8e11";
    private static final String SECOND_BOOT = "b27a9e63-0d44-4f8b-8a35-d1c9e7d2047c";

    private final MemoryFileStore memory = new MemoryFileStore();
    private String bootId = FIRST_BOOT;
    private boolean full;
    private boolean deletesFail;
    private final FileStore store = new FilterFileStore(memory) {
        @Override
        public String bootId() {
            return bootId;
        }

        @Override
        public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
            if (full) {
                throw new IOException("No space left on device");
            }
            super.replace(file, content, sync);
        }

        @Override
        public void delete(Path path) throws IOException {
            if (deletesFail) {
                throw new IOException("Input/output error");
            }
            super.delete(path);
        }
    };

    @BeforeEach
    void create() throws IOException {
        store.createDirectories(DATA);
    }

    private void runs() throws IOException {
        ShutdownMarker.writeRunning(store, DATA, ShutdownMarker.lastEnd(store, DATA), true);
    }

    private LastEnd lastEnd() {
        return ShutdownMarker.lastEnd(store, DATA);
    }

    @Test
    void shouldTellACleanStopFromAKillAndFromAPowerLoss() throws IOException {
        ShutdownMarker.writeClean(store, DATA);
        assertThat(lastEnd()).isEqualTo(LastEnd.CLEAN);

        runs();
        assertThat(lastEnd()).isEqualTo(LastEnd.KILLED);

        bootId = SECOND_BOOT;
        assertThat(lastEnd()).isEqualTo(LastEnd.SYSTEM_DOWN);
        assertThat(ShutdownMarker.isEverythingThere(store, DATA)).isFalse();
    }

    @Test
    void shouldRememberThePowerLossWhenTheNextRunIsKilled() throws IOException {
        // given
        ShutdownMarker.writeClean(store, DATA);
        runs();
        bootId = SECOND_BOOT;
        runs();

        // when it is killed
        LastEnd afterKill = lastEnd();

        // then producers that lost records may still return, and the data written during this boot is there
        assertThat(afterKill).isEqualTo(LastEnd.SYSTEM_DOWN);
        assertThat(ShutdownMarker.isEverythingThere(store, DATA)).isTrue();
        runs();
        assertThat(lastEnd()).isEqualTo(LastEnd.SYSTEM_DOWN);
        ShutdownMarker.writeClean(store, DATA);
        runs();
        assertThat(lastEnd()).isEqualTo(LastEnd.KILLED);
    }

    @Test
    void shouldNotTakeARunForACleanOneWhenTheFileCannotBeWritten() throws IOException {
        ShutdownMarker.writeClean(store, DATA);
        full = true;
        runs();
        full = false;
        assertThat(lastEnd()).isEqualTo(LastEnd.SYSTEM_DOWN);
    }

    @Test
    void shouldFailWhenTheFileCanBeNeitherWrittenNorDeleted() {
        ShutdownMarker.writeClean(store, DATA);
        full = true;
        deletesFail = true;
        assertThatThrownBy(this::runs).isInstanceOf(IOException.class);
    }

    @Test
    void shouldTrustNothingOfThisBootWhenAJournalWasNotRecovered() throws IOException {
        ShutdownMarker.writeClean(store, DATA);
        ShutdownMarker.writeRunning(store, DATA, LastEnd.CLEAN, false);
        assertThat(lastEnd()).isEqualTo(LastEnd.SYSTEM_DOWN);
        assertThat(ShutdownMarker.isEverythingThere(store, DATA)).isFalse();
    }

    @Test
    void shouldKnowThatTheProcessWasKilledWhenBitsAreFlipped() throws IOException {
        ShutdownMarker.writeClean(store, DATA);
        runs();
        Path file = DATA.resolve(ShutdownMarker.FILE_NAME);
        byte[] whole = store.read(file, Integer.MAX_VALUE);
        for (int bit = 0; bit < whole.length * Byte.SIZE; bit++) {
            byte[] flipped = whole.clone();
            flipped[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            flipped[whole.length / 2] ^= 2;
            store.replace(file, ByteBuffer.wrap(flipped), false);

            bootId = FIRST_BOOT;
            assertThat(lastEnd()).as("bit %d", bit).isEqualTo(LastEnd.KILLED);
            bootId = SECOND_BOOT;
            assertThat(lastEnd()).as("bit %d", bit).isEqualTo(LastEnd.SYSTEM_DOWN);
        }
    }

    @Test
    void shouldBeCarefulWhenTheFileIsMissingOrTheSystemNamesNoBoot() throws IOException {
        assertThat(lastEnd()).isEqualTo(LastEnd.SYSTEM_DOWN);
        bootId = null;
        runs();
        assertThat(lastEnd()).isEqualTo(LastEnd.SYSTEM_DOWN);
    }
}
