package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers the last registration of a broker, so that the next process can say since when nothing is lost. A data
 * directory that was restored from a backup names an older one. Any thread; blocks.
 */
final class RegistrationFile {
    static final String FILE_NAME = "broker.state";

    private static final Logger log = LoggerFactory.getLogger(RegistrationFile.class);
    private static final long UNKNOWN = -1;
    private static final int MAX_FILE_BYTES = 64;
    private static final String PREFIX = "registered ";

    private final FileStore store;
    private final Path file;

    RegistrationFile(FileStore store, Path dataDirectory) {
        this.store = store;
        this.file = dataDirectory.resolve(FILE_NAME);
    }

    /** The epoch of the last registration; -1 if it is not known. */
    long epoch() {
        try {
            String content = new String(store.read(file, MAX_FILE_BYTES), StandardCharsets.US_ASCII).strip();
            return content.matches(PREFIX + "\\d{1,18}") ? Long.parseLong(content.substring(PREFIX.length())) : UNKNOWN;
        } catch (NoSuchFileException none) {
            return UNKNOWN;
        } catch (IOException unreadable) {
            log.warn("cannot read {}: {}", file, unreadable.toString());
            return UNKNOWN;
        }
    }

    /** If this fails, the next process counts as one that has lost records. */
    void write(long epoch) {
        try {
            store.replace(file, ByteBuffer.wrap((PREFIX + epoch).getBytes(StandardCharsets.US_ASCII)), true);
        } catch (IOException failure) {
            log.warn("cannot write {}: {}", file, failure.toString());
        }
    }
}
