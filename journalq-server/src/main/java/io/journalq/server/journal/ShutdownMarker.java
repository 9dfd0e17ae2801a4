package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records how the last run on a data directory ended. The file {@value #FILE_NAME} has one of these contents:
 *
 * <ul>
 *   <li>{@code clean}: every journal was closed.
 *   <li>{@code running} and a boot id of the system: during that boot, a broker recovered all journals in the directory,
 *       or began to open them after a clean stop. During the same boot, all data written since then is in the page cache.
 *   <li>{@code running-after-loss} and a boot id: the same, and the system went down after the last clean stop.
 * </ul>
 *
 * <p>If the file is missing or has any other content, the system is assumed to have gone down, because that is the safe
 * assumption. A file that cannot be written is therefore deleted. Stateless; blocks.
 */
public final class ShutdownMarker {
    public static final String FILE_NAME = "journalq.run";

    private static final String CLEAN = "clean";
    private static final String RUNNING = "running ";
    private static final String RUNNING_AFTER_LOSS = "running-after-loss ";

    private static final int MAX_FILE_BYTES = 256;

    /** Maximum number of flipped bits that are tolerated. Boot ids are random, and differ in about 61 bits. */
    private static final int MAX_FLIPPED_BITS = 8;

    private static final Logger LOG = LoggerFactory.getLogger(ShutdownMarker.class);

    private ShutdownMarker() {}

    /** How the last run ended. Call it before {@link #writeRunning}. */
    public static LastEnd lastEnd(FileStore store, Path dataDirectory) {
        byte[] content = read(store, dataDirectory);
        if (Arrays.equals(content, bytes(CLEAN))) {
            return LastEnd.CLEAN;
        }
        return isOfThisBoot(store, RUNNING, content) ? LastEnd.KILLED : LastEnd.SYSTEM_DOWN;
    }

    /** Whether all data that was written to the journals in {@code dataDirectory} is still there. */
    public static boolean isEverythingThere(FileStore store, Path dataDirectory) {
        return dataDirectory != null && isOfThisBoot(store, read(store, dataDirectory));
    }

    /**
     * Records that the broker is about to write to the journals, or to serve clients.
     *
     * @param lastEnd how the last run ended
     * @param recovered whether every journal in {@code dataDirectory} was recovered, or closed by the last run
     * @throws IOException if the file can be neither written nor deleted. In this case the next start may assume that
     *     this run ended cleanly, so nothing may be written to the directory
     */
    public static void writeRunning(FileStore store, Path dataDirectory, LastEnd lastEnd, boolean recovered)
            throws IOException {
        if (isOfThisBoot(store, read(store, dataDirectory))) {
            return;
        }
        Path file = dataDirectory.resolve(FILE_NAME);
        if (recovered && store.bootId() != null) {
            String state = lastEnd == LastEnd.SYSTEM_DOWN ? RUNNING_AFTER_LOSS : RUNNING;
            try {
                store.replace(file, ByteBuffer.wrap(bytes(state + store.bootId())), true);
                return;
            } catch (IOException failure) {
                LOG.warn("{}: cannot write {}: {}", dataDirectory, FILE_NAME, failure.toString());
            }
        }
        store.delete(file);
        store.syncDirectory(dataDirectory);
    }

    /**
     * Records that every journal in {@code dataDirectory} is closed. Not synced: if a power loss removes the record,
     * the next start checks more than necessary.
     */
    public static void writeClean(FileStore store, Path dataDirectory) {
        try {
            store.replace(dataDirectory.resolve(FILE_NAME), ByteBuffer.wrap(bytes(CLEAN)), false);
        } catch (IOException failure) {
            LOG.warn("{}: cannot write {}: {}", dataDirectory, FILE_NAME, failure.toString());
        }
    }

    private static byte[] read(FileStore store, Path dataDirectory) {
        try {
            return store.read(dataDirectory.resolve(FILE_NAME), MAX_FILE_BYTES);
        } catch (NoSuchFileException none) {
            return new byte[0];
        } catch (IOException unreadable) {
            LOG.warn("{}: cannot read {}: {}", dataDirectory, FILE_NAME, unreadable.toString());
            return new byte[0];
        }
    }

    private static boolean isOfThisBoot(FileStore store, byte[] content) {
        return isOfThisBoot(store, RUNNING, content) || isOfThisBoot(store, RUNNING_AFTER_LOSS, content);
    }

    /** Tolerates flipped bits, because a kill that is mistaken for a power loss can cost healthy records. */
    private static boolean isOfThisBoot(FileStore store, String state, byte[] content) {
        if (store.bootId() == null) {
            return false;
        }
        byte[] expected = bytes(state + store.bootId());
        if (content.length != expected.length) {
            return false;
        }
        int differentBits = 0;
        for (int i = 0; i < expected.length; i++) {
            differentBits += Integer.bitCount((content[i] ^ expected[i]) & 0xFF);
        }
        return differentBits <= MAX_FLIPPED_BITS;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** How the last run of a broker on a data directory ended. */
    public enum LastEnd {
        /** The broker closed every journal. */
        CLEAN,
        /**
         * The process ended, and the system has not gone down since the last clean stop: all written data is still
         * there.
         */
        KILLED,
        /**
         * The system went down, or may have gone down, after the last clean stop: data that was not synced may be lost.
         */
        SYSTEM_DOWN
    }
}
