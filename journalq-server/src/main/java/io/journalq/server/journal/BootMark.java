package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a killed process from a power loss. A file in the data directory names the boot of the machine during which the
 * broker last recovered all journals there. While the machine still runs that boot, everything written since is in the
 * page cache: a damaged batch was written whole, and was changed later. The file is not synced, because a boot id that a
 * power loss takes, or leaves, is never that of the next boot. Stateless; blocks.
 */
public final class BootMark {
    /** Name of the file. */
    public static final String FILE_NAME = "boot.id";

    /** More is not this program's. */
    private static final int MAX_FILE_BYTES = 256;

    private static final Logger LOG = LoggerFactory.getLogger(BootMark.class);

    private BootMark() {}

    /** Whether all that was written to the journals in {@code dataDirectory} since they were last recovered is still there. */
    static boolean isOfThisBoot(FileStore store, Path dataDirectory) {
        String bootId = store.bootId();
        if (bootId == null || dataDirectory == null) {
            return false;
        }
        try {
            byte[] marked = store.read(dataDirectory.resolve(FILE_NAME), MAX_FILE_BYTES);
            return bootId.equals(new String(marked, StandardCharsets.UTF_8));
        } catch (NoSuchFileException never) {
            return false;
        } catch (IOException unreadable) {
            LOG.warn("{}: cannot read {}: {}", dataDirectory, FILE_NAME, unreadable.toString());
            return false;
        }
    }

    /** Every journal in {@code dataDirectory} has been recovered. Without the mark a later start assumes a power loss. */
    public static void write(FileStore store, Path dataDirectory) {
        String bootId = store.bootId();
        if (bootId == null || isOfThisBoot(store, dataDirectory)) {
            return;
        }
        try {
            ByteBuffer content = ByteBuffer.wrap(bootId.getBytes(StandardCharsets.UTF_8));
            store.replace(dataDirectory.resolve(FILE_NAME), content, false);
        } catch (IOException failure) {
            LOG.warn("{}: cannot write {}: {}", dataDirectory, FILE_NAME, failure.toString());
        }
    }
}
