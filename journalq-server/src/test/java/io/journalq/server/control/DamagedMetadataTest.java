package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One file of a metadata log is missing, empty or truncated, or has a flipped bit. The log either opens with its whole
 * content, or is rejected with a message that names its directory. It never opens with different content.
 */
class DamagedMetadataTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden/formats-1-metadata");
    /** Every byte at the beginning of a file is damaged, and a sample of the rest. */
    private static final int HEADER_BYTES = 80;

    private static final int SAMPLE = 61;

    @TempDir
    private Path directory;

    private int opened;
    private int refused;

    private static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(GOLDEN)) {
            return all.sorted().toList();
        }
    }

    private void open(Path damaged, byte[] content) throws Exception {
        Path copy = directory.resolve(Integer.toString(opened + refused));
        Files.createDirectory(copy);
        for (Path file : files()) {
            Path to = copy.resolve(file.getFileName());
            if (!file.equals(damaged)) {
                Files.copy(file, to);
            } else if (content != null) {
                Files.write(to, content);
            }
        }
        try (ControllerFixture broker = GoldenMetadata.open(copy)) {
            opened++;
            assertThat(broker.image().topic(GoldenMetadata.CHANGED).configs())
                    .as("%s", damaged)
                    .containsEntry("retention.ms", Integer.toString(GoldenMetadata.CHANGES));
            assertThat(broker.image().topic(GoldenMetadata.DELETED)).isNull();
            assertThat(broker.image().topic(GoldenMetadata.LAST)).isNotNull();
        } catch (IOException said) {
            refused++;
            assertThat(said.getMessage()).contains(copy.toString());
        }
    }

    @Test
    void shouldKnowEverythingOrRefuseWhenDerivedFilesAreDamaged() throws Exception {
        for (Path file : files()) {
            if (file.toString().endsWith(".log")) {
                continue;
            }
            byte[] healthy = Files.readAllBytes(file);
            List<byte[]> contents =
                    new ArrayList<>(Arrays.asList(null, new byte[0], Arrays.copyOf(healthy, healthy.length / 2)));
            for (int at = 0; at < healthy.length; at += at < HEADER_BYTES ? 1 : SAMPLE) {
                byte[] flipped = healthy.clone();
                flipped[at] ^= 0x20;
                contents.add(flipped);
            }
            for (byte[] content : contents) {
                open(file, content);
            }
        }
        assertThat(refused).isZero();
    }

    @Test
    void shouldKnowEverythingOrRefuseWhenTheLogIsDamagedBehindTheNewestSnapshot() throws Exception {
        Path log = files().stream()
                .filter(file -> file.toString().endsWith(".log"))
                .reduce((first, second) -> second)
                .orElseThrow();
        byte[] healthy = Files.readAllBytes(log);
        open(log, null);
        open(log, new byte[0]);
        for (int at = 0; at < healthy.length; at += at < HEADER_BYTES ? 1 : SAMPLE) {
            byte[] flipped = healthy.clone();
            flipped[at] ^= 0x20;
            open(log, flipped);
        }
        assertThat(refused).isPositive();
    }
}
