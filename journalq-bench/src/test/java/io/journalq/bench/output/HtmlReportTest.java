package io.journalq.bench.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HtmlReportTest {
    @TempDir
    private Path directory;

    private String page(List<Map<String, Object>> rows) throws IOException {
        Path file = directory.resolve("page.html");
        new HtmlReport("Title").table(rows).write(file);
        return Files.readString(file);
    }

    private static Map<String, Object> row(String broker, int columns) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("message_size", 1_024);
        for (int i = 0; i < columns; i++) {
            row.put("value_" + i, broker + i);
        }
        return row;
    }

    @Test
    void shouldListValuesBelowTheTableWhenTheyAreTheSameInAllRows() throws IOException {
        String page = page(List.of(row("a", 2), row("b", 2)));

        assertThat(page)
                .contains("<tr><th>broker</th><th>value 0</th><th>value 1</th></tr>")
                .contains("<dt>message size</dt><dd>1024</dd>");
    }

    @Test
    void shouldPutRowsSideBySideWhenThereAreMoreColumnsThanAPageHolds() throws IOException {
        String page = page(List.of(row("a", 30), row("b", 30)));

        assertThat(page)
                .contains(
                        "<tr><th>value 29</th><td data-name=\"value 29\">a29</td><td data-name=\"value 29\">b29</td></tr>");
    }

    @Test
    void shouldKeepALinePerRowWhenThereAreManyRows() throws IOException {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            rows.add(row("b" + i, 30));
        }

        assertThat(page(rows)).contains("<tr><td data-name=\"broker\">b3</td><td data-name=\"value 0\">b30</td>");
    }

    @Test
    void shouldShowMillisecondsAndWordsWhenAColumnHasMicroseconds() throws IOException {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("end_to_end_p99_us", 4_159.5);
        row.put("p9999_us", 17_236.0);
        row.put("p50_us_range", "[453-2228]");
        row.put("throughput_mps", 1_352_114);

        assertThat(page(List.of(row)))
                .contains("<th>end to end 99th percentile, ms</th><th>99.99th percentile, ms</th>")
                .contains("<th>median range, ms</th><th>throughput, messages/s</th>")
                .contains(">4.16</td>", ">17.2</td>", ">[0.453-2.23]</td>", ">1352114</td>");
    }

    @Test
    void shouldDrawEachChartForBothWidthsWithItsTitleAsText() throws IOException {
        Chart chart = Chart.bars(
                "Latency, 99th percentile",
                "rate",
                "milliseconds",
                List.of("1,000"),
                List.of(new Chart.Series("a", List.of(), List.of(3.0))));
        Path file = directory.resolve("page.html");

        new HtmlReport("Title").chart(chart).write(file);

        assertThat(Files.readString(file))
                .contains("<figcaption>Latency, 99th percentile</figcaption>")
                .containsPattern("class=\"wide\"><svg[^>]* width=\"900")
                .containsPattern("class=\"narrow\">milliseconds<svg[^>]* width=\"360");
    }
}
