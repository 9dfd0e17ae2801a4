package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The archive as a user has it: unpacked in a directory. */
final class UnpackedArchive {
    private static final Path BUILT = Path.of("target").toAbsolutePath();

    private UnpackedArchive() {}

    /** Unpacks the archive in {@code directory}, and returns its home. */
    static Path in(Path directory) throws IOException, InterruptedException {
        Path archive;
        try (Stream<Path> files = Files.list(BUILT)) {
            archive = files.filter(file -> file.toString().endsWith(".tar.gz"))
                    .findFirst()
                    .orElseThrow();
        }
        ScriptRun tar = ScriptRun.of(directory, Map.of(), List.of("tar", "xzf", archive.toString()));
        assertThat(tar.exitCode()).as(tar.err()).isZero();
        try (Stream<Path> unpacked = Files.list(directory)) {
            return unpacked.findFirst().orElseThrow();
        }
    }
}
