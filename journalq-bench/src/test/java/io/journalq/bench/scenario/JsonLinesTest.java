package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JsonLinesTest {
    @TempDir
    private Path directory;

    @Test
    void shouldFindNoDifferenceWhenOnlyTheOrderDiffers() throws IOException {
        List<String> lines = made();
        Collections.reverse(lines);

        assertThat(compare(lines)).isEqualTo(new JsonLines.Difference(0, 0));
    }

    @Test
    void shouldCountWhatIsMissingRepeatedAndDamaged() throws IOException {
        List<String> lines = made();
        lines.remove(7);
        lines.add(lines.get(3));
        lines.set(20, lines.get(20) + " ");

        assertThat(compare(lines)).isEqualTo(new JsonLines.Difference(2, 2));
    }

    private List<String> made() throws IOException {
        JsonLines.write(directory.resolve("sent"), 1, 2_000, 100);
        List<String> lines = new ArrayList<>(Files.readAllLines(directory.resolve("sent")));
        assertThat(lines).hasSize(2_000).doesNotHaveDuplicates();
        return lines;
    }

    private JsonLines.Difference compare(List<String> received) throws IOException {
        Path file = Files.write(directory.resolve("received"), received);
        return JsonLines.compare(JsonLines.hashes(directory.resolve("sent")), JsonLines.hashes(file));
    }
}
