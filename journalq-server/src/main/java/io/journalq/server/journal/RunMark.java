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
 * Tells how the last run on a data directory ended. The file {@code .running} exists while a broker runs. It names the boot
 * of the system during which all journals in the directory were recovered: as long as that boot lasts, everything written
 * since is in the page cache. Stateless; blocks.
 */
public final class RunMark {
    public static final String FILE_NAME = ".running";

    /** Content when the boot is not known, or when a journal could not be recovered. */
    private static final String UNKNOWN_BOOT = "";

    private static final int MAX_FILE_BYTES = 256;

    /** How many bits of this boot's id may be damaged. Ids of two boots are random, and differ in about 61 bits. */
    private static final int MAX_FLIPPED_BITS = 8;

    private static final Logger LOG = LoggerFactory.getLogger(RunMark.class);

    private RunMark() {}

    /** How the last run ended. Called before {@link #write}. */
    public static LastEnd lastEnd(FileStore store, Path dataDirectory) {
        try {
            byte[] content = store.read(dataDirectory.resolve(FILE_NAME), MAX_FILE_BYTES);
            return isThisBoot(content, store.bootId()) ? LastEnd.KILLED : LastEnd.SYSTEM_DOWN;
        } catch (NoSuchFileException none) {
            return LastEnd.CLEAN;
        } catch (IOException unreadable) {
            LOG.warn("{}: cannot read {}: {}", dataDirectory, FILE_NAME, unreadable.toString());
            return LastEnd.SYSTEM_DOWN;
        }
    }

    /** Tolerates flipped bits, because a kill that is taken for a power loss can cost healthy records. */
    private static boolean isThisBoot(byte[] content, String bootId) {
        byte[] boot = (bootId == null ? UNKNOWN_BOOT : bootId).getBytes(StandardCharsets.UTF_8);
        if (boot.length == 0 || content.length != boot.length) {
            return false;
        }
        int differentBits = 0;
        for (int i = 0; i < boot.length; i++) {
            differentBits += Integer.bitCount((content[i] ^ boot[i]) & 0xFF);
        }
        return differentBits <= MAX_FLIPPED_BITS;
    }

    /** Whether everything that was written to the journals in {@code dataDirectory} is still there. */
    static boolean isEverythingThere(FileStore store, Path dataDirectory) {
        return dataDirectory != null && lastEnd(store, dataDirectory) == LastEnd.KILLED;
    }

    /**
     * The broker is about to serve clients. If the file cannot be written, for example because the disk is full, the next
     * start takes the end of this run for a clean one.
     *
     * @param recovered whether every journal in {@code dataDirectory} was recovered
     */
    public static void write(FileStore store, Path dataDirectory, boolean recovered) {
        LastEnd lastEnd = lastEnd(store, dataDirectory);
        if (lastEnd == LastEnd.KILLED || (lastEnd == LastEnd.SYSTEM_DOWN && !recovered)) {
            return;
        }
        String boot = recovered ? store.bootId() : UNKNOWN_BOOT;
        ByteBuffer content = ByteBuffer.wrap((boot == null ? UNKNOWN_BOOT : boot).getBytes(StandardCharsets.UTF_8));
        try {
            store.replace(dataDirectory.resolve(FILE_NAME), content, true);
        } catch (IOException failure) {
            LOG.warn("{}: cannot write {}: {}", dataDirectory, FILE_NAME, failure.toString());
        }
    }

    /**
     * Every journal in {@code dataDirectory} is closed. The deletion is not synced: if a power loss brings the file back, the
     * next start is more careful than necessary.
     */
    public static void delete(FileStore store, Path dataDirectory) throws IOException {
        try {
            store.delete(dataDirectory.resolve(FILE_NAME));
        } catch (NoSuchFileException none) {
            LOG.debug("{}: there is no {}", dataDirectory, FILE_NAME);
        }
    }
}
