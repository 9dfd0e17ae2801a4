package io.journalq.cli.journal;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Quantity;
import io.journalq.server.folder.DataLocks;
import io.journalq.server.folder.LockHolder;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The folder that a command is about: a broker's data folder, or one journal in it. Immutable.
 *
 * @param path as it was named, absolute
 * @param dataFolder the data folder that it is or lies in
 * @param journals the journals in it, by name
 */
record JournalFolder(Path path, Path dataFolder, List<Path> journals) {
    /** Name of the journal that holds the metadata log. */
    static final String METADATA = "metadata";

    /**
     * Looks at a folder.
     *
     * @throws CommandFailure when there is no journal, or a broker has it: what it is writing cannot be told from damage
     */
    static JournalFolder open(FileStore store, Path named) throws IOException {
        Path path = named.toAbsolutePath().normalize();
        if (!Files.isDirectory(path)) {
            throw new CommandFailure("there is no folder " + path + "; name a data folder or a journal in one");
        }
        boolean single = JournalCheck.isJournal(store, path);
        Path dataFolder = single && path.getParent() != null ? path.getParent() : path;
        refuseRunning(dataFolder);
        List<Path> journals = new ArrayList<>();
        for (String name : single ? List.of("") : store.list(path)) {
            Path directory = path.resolve(name);
            if (Files.isDirectory(directory) && JournalCheck.isJournal(store, directory)) {
                journals.add(directory);
            }
        }
        if (journals.isEmpty()) {
            throw new CommandFailure("there is no journal in " + path + "; name a data folder or a journal in one");
        }
        return new JournalFolder(path, dataFolder, journals);
    }

    /** What the next start does before anything else; null for nothing. */
    String pendingRedo(FileStore store) throws IOException {
        long count = WriteAheadScan.count(store, dataFolder);
        return count == 0
                ? null
                : "the write-ahead files in " + dataFolder + " hold " + Quantity.count(count, "record")
                        + ", which the next start writes into the journals where they lack them";
    }

    private static void refuseRunning(Path dataFolder) throws IOException {
        if (DataLocks.isHeld(dataFolder)) {
            throw new CommandFailure("a broker is running with " + dataFolder
                    + LockHolder.read(dataFolder)
                            .map(holder -> " (" + holder.describe() + ")")
                            .orElse("")
                    + "; stop it first, with bin/journalq-server stop --set data.directories=" + dataFolder);
        }
    }
}
