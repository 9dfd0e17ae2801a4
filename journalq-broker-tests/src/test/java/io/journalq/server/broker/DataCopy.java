package io.journalq.server.broker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** A copy of the data directory of a running broker. */
final class DataCopy {
    private static final int MAX_ATTEMPTS = 100;

    private DataCopy() {}

    /**
     * Copies the files that a running broker would leave if it were killed now. The broker continues in the meantime, and
     * renames and deletes files. The copy is made again if the names have changed.
     */
    static void ofKilled(Path from, Path to) throws IOException {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            List<Path> names = names(from);
            if (copy(from, names, to) && names(from).equals(names)) {
                return;
            }
            delete(to);
        }
        throw new IOException("the names in " + from + " changed during each of " + MAX_ATTEMPTS + " copies");
    }

    private static List<Path> names(Path directory) throws IOException {
        while (true) {
            try (Stream<Path> files = Files.walk(directory)) {
                return files.sorted().toList();
            } catch (UncheckedIOException renamed) {
                if (!(renamed.getCause() instanceof NoSuchFileException)) {
                    throw renamed;
                }
            }
        }
    }

    /** Returns whether all files were still there. */
    private static boolean copy(Path from, List<Path> names, Path to) throws IOException {
        for (Path file : names) {
            Path target = to.resolve(from.relativize(file));
            try {
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target);
                }
            } catch (NoSuchFileException renamed) {
                return false;
            }
        }
        return true;
    }

    private static void delete(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.sorted(Collections.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }
}
