package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A copy of the data directory of a running broker. */
final class DataCopy {
    private DataCopy() {}

    /** Copies the files that a running broker would leave if it were killed now. */
    static void ofKilled(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file));
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    copyUnlessDeleted(file, target);
                }
            }
        }
    }

    private static void copyUnlessDeleted(Path file, Path target) throws IOException {
        try {
            Files.copy(file, target);
        } catch (NoSuchFileException old) {
            // The broker continues in the meantime, and deletes old snapshots.
            assertThat(old).hasMessageContaining(".snapshot");
        }
    }
}
