package io.journalq.server.broker;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * Creates golden files with the classes of this release. Run it when a file format has changed, as described in the
 * README beside the files. Its name excludes it from the tests of a build.
 */
class GoldenDataRecorder {
    @Test
    void record() throws Exception {
        GoldenData.write(Files.createDirectories(Path.of("src/test/resources/golden", name())));
    }

    @Test
    void recordWithWriteAheadFiles() throws Exception {
        GoldenData.writeWithWriteAheadFiles(
                Files.createDirectories(Path.of("src/test/resources/golden", name() + "-write-ahead")));
    }

    private static String name() {
        return System.getProperty("golden.name");
    }
}
