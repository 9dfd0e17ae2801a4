package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.file.NewerFormatException;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.segment.SparseIndex;
import io.journalq.server.journal.transaction.AbortedTransaction;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files written by a newer release are distinguished from damaged ones, and rejected. */
class NewerFormatTest {
    private static final int VERSION_AT = 4;
    private static final int NEWER = 99;

    @TempDir
    Path parent;

    private Path directory;

    @BeforeEach
    void write() throws Exception {
        directory = parent.resolve("journal");
        try (Journal journal = open()) {
            TestJournals.append(journal, 5, 2, 50);
            journal.derivedState().writeSnapshot(journal.writtenOffset(), ByteBuffer.wrap(new byte[] {1, 2, 3}));
        }
    }

    private Journal open() throws IOException {
        return Journal.open(new SystemFileStore(), directory, JournalConfig.DEFAULT, Runnable::run);
    }

    @Test
    void shouldNotOpenWhenTheCheckpointIsNewer() throws Exception {
        makeNewer(directory.resolve(JournalCheckpoint.FILE_NAME), 8);

        assertThatThrownBy(this::open)
                .isInstanceOf(NewerFormatException.class)
                .hasMessageContaining(JournalCheckpoint.FILE_NAME)
                .hasMessageContaining("99")
                .hasMessageContaining("start the newer release");
    }

    @Test
    void shouldNotReadProducersWhenTheirSnapshotIsNewer() throws Exception {
        makeNewer(only(ProducerSnapshots.FILE_SUFFIX), 16);

        try (Journal journal = open()) {
            assertThatThrownBy(journal.derivedState()::restoreSnapshot)
                    .isInstanceOf(NewerFormatException.class)
                    .hasMessageContaining("99");
        }
    }

    @Test
    void shouldNotReadAbortedTransactionsWhenTheirIndexIsNewer() throws Exception {
        // given
        Path file = directory.resolve("00000000000000000000.txnindex");
        try (Journal journal = open()) {
            journal.derivedState().addAborted(new AbortedTransaction(1, 0, 3, 4));
            journal.derivedState().writeSnapshot(journal.writtenOffset(), ByteBuffer.wrap(new byte[] {1, 2, 3}));
        }
        makeNewer(file, 20);

        // when, then
        try (Journal journal = open()) {
            assertThatThrownBy(journal.derivedState()::restoreSnapshot)
                    .isInstanceOf(NewerFormatException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("99");
        }
    }

    @Test
    void shouldNotUseAnIndexThatIsNewer() throws Exception {
        makeNewer(only(SparseIndex.FILE_SUFFIX), 24);

        try (Journal journal = open()) {
            assertThatThrownBy(() -> findByTimestamp(journal, 0))
                    .isInstanceOf(NewerFormatException.class)
                    .hasMessageContaining("99");
        }
    }

    private Path only(String suffix) throws IOException {
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Turns the file into one of a newer release: healthy, but with an unknown version. */
    private static void makeNewer(Path file, int crcAt) throws IOException {
        byte[] content = Files.readAllBytes(file);
        ByteBuffer.wrap(content).putInt(VERSION_AT, NEWER);
        CRC32C crc = new CRC32C();
        crc.update(content, 0, crcAt);
        crc.update(content, crcAt + Integer.BYTES, content.length - crcAt - Integer.BYTES);
        ByteBuffer.wrap(content).putInt(crcAt, (int) crc.getValue());
        Files.write(file, content);
    }
}
