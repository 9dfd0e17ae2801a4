package io.journalq.bench.output;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.output.Chart.Series;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChartTest {
    private final Chart bars = Chart.bars(
            "t", "x", "y", List.of("1,000", "10,000"), List.of(new Series("a", List.of(), List.of(3.0, 5_000.0))));

    @TempDir
    private Path directory;

    @Test
    void shouldDrawBarsWhenTheAxisIsLinearOrGoesByFactorsOfTen() {
        assertThat(bars.svg()).startsWith("<svg").contains("</svg>");
        assertThat(bars.byFactorsOfTen().svg()).startsWith("<svg");
    }

    @Test
    void shouldDrawLinesWhenOneSeriesHasNoPoints() {
        Chart lines = Chart.lines(
                "t",
                "x",
                "y",
                List.of(
                        new Series("empty", List.of(), List.of()),
                        new Series("one", List.of(1.0), List.of(2.0)),
                        new Series("flat", List.of(1.0, 2.0), List.of(0.0, 0.0))));

        lines.writePng(directory.resolve("lines.png"));

        assertThat(directory.resolve("lines.png")).isNotEmptyFile();
    }
}
