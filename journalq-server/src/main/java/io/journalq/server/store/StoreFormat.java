package io.journalq.server.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of the key and value format of a store, as one line of text in a file beside the database's files. A
 * store without this file has version 1, which was first written without it. Stateless; blocks.
 */
final class StoreFormat {
    static final String FILE_NAME = "journalq.format";

    /** The version that this release writes and reads. */
    static final int VERSION = 1;

    private static final String LINE_BEGIN = "journalq-coordinators ";
    private static final Pattern LINE = Pattern.compile(LINE_BEGIN + "(\\d{1,9})\n");
    private static final int MAX_SIZE_BYTES = 1_024;

    private StoreFormat() {}

    /**
     * Checks that this release can read and write the directory. A missing directory passes. A damaged file passes too,
     * because the stored state can be rebuilt.
     *
     * @throws IOException when a newer release wrote it; names the file and both versions
     */
    static void check(Path directory) throws IOException {
        Path file = directory.resolve(FILE_NAME);
        String content;
        try {
            if (Files.size(file) > MAX_SIZE_BYTES) {
                return;
            }
            content = Files.readString(file);
        } catch (NoSuchFileException none) {
            return;
        } catch (java.nio.charset.CharacterCodingException damaged) {
            return;
        }
        Matcher line = LINE.matcher(content);
        if (line.matches() && Integer.parseInt(line.group(1)) > VERSION) {
            throw new IOException(file + " is of format version " + line.group(1)
                    + ", this release knows versions up to " + VERSION
                    + "; start the newer release that wrote it, or move the directory away: it is rebuilt");
        }
    }

    /** Writes the version of this release into the directory. */
    static void write(Path directory) throws IOException {
        Path file = directory.resolve(FILE_NAME);
        Path temporary = directory.resolve(FILE_NAME + ".tmp");
        Files.writeString(temporary, LINE_BEGIN + VERSION + "\n");
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
