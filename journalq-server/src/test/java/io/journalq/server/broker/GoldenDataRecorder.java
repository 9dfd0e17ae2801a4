package io.journalq.server.broker;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * Makes golden files with the classes of this release; run whenever a file format has changed, as the README beside them
 * says. Not among the tests of a build, by its name.
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
