package io.journalq.server.control;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Creates golden files of a metadata log with snapshots; see {@code GoldenDataRecorder} in the package of the broker.
 */
@EnabledIfSystemProperty(named = "golden.name", matches = ".+")
class GoldenMetadataRecorder {
    @Test
    void record() throws Exception {
        String name = System.getProperty("golden.name");
        GoldenMetadata.write(Files.createDirectories(Path.of("src/test/resources/golden", name + "-metadata")));
    }
}
