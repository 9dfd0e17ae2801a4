package io.journalq.server.shard;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file in the first data directory that is there while a broker runs. A start that finds it knows that the last run did not
 * close its journals. It holds the id of the system's boot as of the first start after a clean stop, so that a start can tell
 * killed processes from a system that went down. One thread; blocks.
 */
public final class RunMarker {
    static final String FILE_NAME = ".running";

    private static final Logger log = LoggerFactory.getLogger(RunMarker.class);
    private static final int MAX_FILE_SIZE_BYTES = 1024;

    private final FileStore store;
    private final Path file;
    private final LastEnd lastEnd;

    private RunMarker(FileStore store, Path file, LastEnd lastEnd) {
        this.store = store;
        this.file = file;
        this.lastEnd = lastEnd;
    }

    /**
     * A broker starts. The disk may be full: then the next start takes this run's end for a clean one.
     *
     * @param bootId differs after each start of the system; empty when it is not known
     */
    public static RunMarker begin(FileStore store, Path dataDirectory, String bootId) throws IOException {
        Path file = dataDirectory.resolve(FILE_NAME);
        LastEnd lastEnd = LastEnd.CLEAN;
        if (store.list(dataDirectory).contains(FILE_NAME)) {
            String lastBootId = new String(store.read(file, MAX_FILE_SIZE_BYTES), StandardCharsets.UTF_8);
            lastEnd = !bootId.isEmpty() && bootId.equals(lastBootId) ? LastEnd.KILLED : LastEnd.SYSTEM_DOWN;
            log.info("the last run did not end in order: end={}", lastEnd);
            return new RunMarker(store, file, lastEnd);
        }
        try {
            store.createDirectories(dataDirectory);
            store.replace(file, ByteBuffer.wrap(bootId.getBytes(StandardCharsets.UTF_8)), true);
        } catch (IOException failure) {
            log.warn("cannot write down that a broker runs: file={} reason=\"{}\"", file, failure.getMessage());
        }
        return new RunMarker(store, file, lastEnd);
    }

    /** How the run before this one ended. */
    public LastEnd lastEnd() {
        return lastEnd;
    }

    /** Every journal is closed. Not synced: if the file comes back, the next start is more careful than it has to be. */
    public void end() throws IOException {
        store.delete(file);
    }
}
