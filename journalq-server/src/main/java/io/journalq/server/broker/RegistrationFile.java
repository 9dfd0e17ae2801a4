package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers the last registration of a broker in each of its data directories, so that the next process can say since
 * when nothing is lost. A data directory that was restored from a backup names an older one. Any thread; blocks.
 */
final class RegistrationFile {
    static final String FILE_NAME = "broker.state";

    private static final Logger log = LoggerFactory.getLogger(RegistrationFile.class);
    private static final long UNKNOWN = -1;
    private static final int MAX_FILE_BYTES = 64;
    private static final String PREFIX = "registered ";

    private final FileStore store;
    private final List<Path> directories;
    private final List<Path> withRecords;

    /**
     * Creates an instance.
     *
     * @param hasRecords whether a directory holds partitions. One that does not has lost nothing, except the first, which
     *     holds the metadata
     */
    RegistrationFile(FileStore store, List<Path> directories, Predicate<Path> hasRecords) {
        this.store = store;
        this.directories = List.copyOf(directories);
        this.withRecords = directories.stream()
                .filter(directory -> directory.equals(directories.get(0)) || hasRecords.test(directory))
                .toList();
    }

    /** The epoch of the last registration that all directories know; -1 if it is not known. */
    long epoch() {
        return withRecords.stream().mapToLong(this::epochIn).min().orElse(UNKNOWN);
    }

    private long epochIn(Path directory) {
        Path file = directory.resolve(FILE_NAME);
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
        for (Path directory : directories) {
            Path file = directory.resolve(FILE_NAME);
            try {
                store.replace(file, ByteBuffer.wrap((PREFIX + epoch).getBytes(StandardCharsets.US_ASCII)), true);
            } catch (IOException failure) {
                log.warn("cannot write {}: {}", file, failure.toString());
            }
        }
    }
}
