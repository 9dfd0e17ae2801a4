package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.wal.WriteAheadRecord;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Copies of a data directory after a power loss: journals without the data that was not fsynced, and the write-ahead
 * files.
 */
final class LostTails {
    private LostTails() {}

    /**
     * Copies the directory of a running and idle broker, and cuts its journals at the beginning of its write-ahead
     * files.
     *
     * @return the number of journals that were cut
     */
    static int copy(Path data, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            for (Path from : all.filter(path -> !path.startsWith(data.resolve("coordinators"))
                            && !path.getFileName().toString().equals(".lock"))
                    .toList()) {
                Path copy = to.resolve(data.relativize(from).toString());
                if (Files.isDirectory(from)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(from, copy);
                }
            }
        }
        FileStore store = new SystemFileStore();
        Set<String> cut = new HashSet<>();
        for (Path file : WriteAheadScan.files(store, to)) {
            try (WriteAheadScan scan = WriteAheadScan.open(store, file)) {
                for (WriteAheadRecord record = scan.next(); record != null; record = scan.next()) {
                    if (cut.add(record.directory())) {
                        cut(store, to.resolve(record.directory()), record);
                    }
                }
            }
        }
        return cut.size();
    }

    private static void cut(FileStore store, Path journal, WriteAheadRecord first) throws IOException {
        Path log = journal.resolve(String.format("%020d.log", first.segmentBaseOffset()));
        try (LogFile file = store.open(log, false)) {
            file.truncate(first.position());
        }
    }

    /** The number of records in the write-ahead files. */
    static long records(Path data) {
        try {
            return WriteAheadScan.count(new SystemFileStore(), data);
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }
}
