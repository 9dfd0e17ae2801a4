package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.segment.Segment;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The directory of a journal that is deleted. It is renamed first, and the new name is durable before files are deleted: a
 * power loss would otherwise bring back a journal without some of its files. Any thread; every method blocks.
 */
public final class DeletedJournal {
    private final FileStore store;
    private final Path renamed;

    private DeletedJournal(FileStore store, Path renamed) {
        this.store = store;
        this.renamed = renamed;
    }

    /** Deletes the directory of a journal that is not open, or whatever has its name. */
    public static void delete(FileStore store, Path directory) throws IOException {
        if (store.isDirectory(directory)) {
            rename(store, directory).deleteFiles();
        } else {
            store.delete(directory);
        }
    }

    /** Begins to delete the directory of a journal: another journal can have its name from now on. */
    static DeletedJournal rename(FileStore store, Path directory) throws IOException {
        Path renamed = directory.resolveSibling(directory.getFileName() + Segment.DELETED_SUFFIX);
        // A deletion that was not finished may have left it.
        store.delete(renamed);
        store.move(directory, renamed);
        return new DeletedJournal(store, renamed);
    }

    void deleteFiles() throws IOException {
        store.syncDirectory(renamed.getParent());
        store.delete(renamed);
    }
}
