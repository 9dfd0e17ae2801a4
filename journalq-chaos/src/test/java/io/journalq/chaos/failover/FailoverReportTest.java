package io.journalq.chaos.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailoverReportTest {
    @TempDir
    private Path directory;

    @Test
    void shouldWriteEachTimeAndItsMedian() throws IOException {
        // given three rounds, the last one above the goal
        FailoverPlan plan =
                new FailoverPlan(3, "eventual", 3, 20_000, 6, 0, List.of(FailoverFault.KILL), Map.of(), directory);
        FailoverReport report = new FailoverReport(
                plan, new TreeMap<>(Map.of("kill", Map.of("journalq", List.of(900L, 800L, 1_600L)))));

        // when
        Path file = directory.resolve("report.json");
        report.write(file);

        // then
        assertThat(report.rows()).singleElement().satisfies(row -> assertThat(row.isMet())
                .isFalse());
        assertThat(Files.readString(file))
                .contains("\"client\" : \"journalq\"", "\"median_s\" : 0.9", "\"p99_s\" : 1.6", "\"goal_s\" : 1.5")
                .contains("\"times_ms\" : [ 900, 800, 1600 ]");
    }
}
