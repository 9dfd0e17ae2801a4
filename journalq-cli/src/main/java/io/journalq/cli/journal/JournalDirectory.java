package io.journalq.cli.journal;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Quantity;
import io.journalq.server.directory.DataLocks;
import io.journalq.server.directory.LockHolder;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory on which a command works: a broker's data directory, or one journal in it. Immutable.
 *
 * @param path the given path, made absolute
 * @param dataDirectory the data directory that it is or contains it
 * @param journals the journals in it, sorted by name
 */
record JournalDirectory(Path path, Path dataDirectory, List<Path> journals) {
    /** The name of the journal with the metadata log. */
    static final String METADATA = "metadata";

    /**
     * Opens a directory.
     *
     * @throws CommandFailure if it contains no journal, or if a broker is using it: unfinished writes cannot be
     *     distinguished from damage
     */
    static JournalDirectory open(FileStore store, Path named) throws IOException {
        Path path = named.toAbsolutePath().normalize();
        if (!Files.isDirectory(path)) {
            throw new CommandFailure("there is no directory " + path + "; use a data directory or a journal in one");
        }
        boolean single = JournalCheck.isJournal(store, path);
        Path dataDirectory = single && path.getParent() != null ? path.getParent() : path;
        refuseRunning(dataDirectory);
        List<Path> journals = new ArrayList<>();
        for (String name : single ? List.of("") : store.list(path)) {
            Path directory = path.resolve(name);
            if (Files.isDirectory(directory) && JournalCheck.isJournal(store, directory)) {
                journals.add(directory);
            }
        }
        if (journals.isEmpty()) {
            throw new CommandFailure("there is no journal in " + path + "; use a data directory or a journal in one");
        }
        return new JournalDirectory(path, dataDirectory, journals);
    }

    /** Describes what the next start of the broker does first, or returns null for nothing. */
    String pendingRedo(FileStore store) throws IOException {
        long count = WriteAheadScan.count(store, dataDirectory);
        return count == 0
                ? null
                : "the write-ahead files in " + dataDirectory + " contain " + Quantity.count(count, "record")
                        + ", which the next start copies into the journals that lack them";
    }

    private static void refuseRunning(Path dataDirectory) throws IOException {
        if (DataLocks.isHeld(dataDirectory)) {
            throw new CommandFailure("a broker is running with " + dataDirectory
                    + LockHolder.read(dataDirectory)
                            .map(holder -> " (" + holder.describe() + ")")
                            .orElse("")
                    + "; stop it first, with bin/journalq-server stop --set data.directories=" + dataDirectory);
        }
    }
}
