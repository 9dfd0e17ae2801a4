package io.journalq.server.broker;

import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Creates golden files with the classes of this release. Run it when a file format has changed, as described in the
 * README beside the files. Its name excludes it from the tests of a build.
 */
@EnabledIfSystemProperty(named = "golden.name", matches = ".+")
class GoldenDataRecorder {
    @Test
    void record() throws Exception {
        GoldenData.write(Files.createDirectories(GoldenData.DIRECTORY.resolve(name())));
    }

    @Test
    void recordWithWriteAheadFiles() throws Exception {
        GoldenData.writeWithWriteAheadFiles(
                Files.createDirectories(GoldenData.DIRECTORY.resolve(name() + "-write-ahead")));
    }

    private static String name() {
        return System.getProperty("golden.name");
    }
}
