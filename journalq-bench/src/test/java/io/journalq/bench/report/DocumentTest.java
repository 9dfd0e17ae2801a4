package io.journalq.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.cli.BenchMain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DocumentTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void writeResults() throws IOException {
        Files.writeString(
                folder.resolve("r.json"),
                """
                {"results": [
                  {"broker": "a", "rate": 1000, "mps": 633145.0, "p99_us": 1234.5, "ratio": 2.04, "rss": 2097152},
                  {"broker": "b", "rate": 1000, "mps": 4002348.0, "p99_us": 20.0, "ratio": null, "rss": 0}]}
                """);
    }

    @Test
    void shouldMakeATableWhenColumnsAreNamed() throws IOException {
        String filled = fill("table r.json: broker, mps=messages/s:si, p99_us=p99:ms, ratio:x, rss=RSS:MiB");

        assertThat(filled)
                .contains("| broker | messages/s | p99 | ratio | RSS |\n|---|---|---|---|---|\n")
                .contains("| a | 633k | 1.23 | 2.0× | 2 |\n| b | 4.00M | 0.02 |  | 0 |\n")
                .doesNotContain("old");
    }

    @Test
    void shouldSetSidesBesideEachOtherWhenTheyAreNamed() throws IOException {
        Files.writeString(
                folder.resolve("s.json"),
                """
                {"results": [
                  {"broker": "a", "qos": "one", "size": 1024, "mps": 30000},
                  {"broker": "b", "qos": "one", "size": 1024, "mps": 15000},
                  {"broker": "a", "qos": "one", "size": 1024, "mps": 50000},
                  {"broker": "b", "qos": "two", "size": 100, "mps": 7}]}
                """);

        assertThat(fill("sides s.json: mps:si by broker over qos, size"))
                .contains("| qos | size | a | b | a / b |\n|---|---|---|---|---|\n")
                .contains("| one | 1,024 | 40k | 15k | 2.67× |\n| two | 100 |  | 7 |  |\n");
        assertThatThrownBy(() -> fill("sides s.json: mps by broker"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("VALUE:FORM by SIDE over KEY");
    }

    @Test
    void shouldPutValuesIntoTextWhenTheyAreNamed() throws IOException {
        assertThat(fill("text\nFrom {r.json 0 mps si} to {r.json 1 mps plain} a second\n"))
                .contains("-->\nFrom 633k to 4,002,348 a second\n<!-- /results -->");
    }

    @Test
    void shouldDrawAChartWhenItIsAskedFor() throws IOException {
        assertThat(fill("chart r.json: mps over rate by broker to mps.png")).contains("![mps over rate](mps.png)");
        assertThat(folder.resolve("mps.png")).isNotEmptyFile();
    }

    @Test
    void shouldNotChangeAgainWhenItIsCurrent() throws IOException {
        fill("table r.json: broker, mps:si");

        Document again = new Document(folder.resolve("page.md"));
        assertThat(again.isCurrent()).isTrue();
        assertThat(again.fill()).isFalse();
    }

    @Test
    void shouldSayWhatIsWrongWhenAPlaceCannotBeFilled() {
        assertThatThrownBy(() -> fill("table r.json: broker, speed"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("has no 'speed' in row 0");
        assertThatThrownBy(() -> fill("table missing.json: broker")).isInstanceOf(BenchException.class);
        assertThatThrownBy(() -> fill("chart r.json: mps by broker")).isInstanceOf(BenchException.class);
    }

    @Test
    void shouldFindThePagesOfThisRepositoryCurrent() {
        assertThat(BenchMain.commandLine().execute("report", "--check", "--home=.."))
                .as("run bin/journalq-bench report")
                .isZero();
    }

    private String fill(String what) throws IOException {
        Path page = Files.writeString(
                folder.resolve("page.md"), "before\n<!-- results " + what + " -->\nold\n<!-- /results -->\nafter\n");
        new Document(page).fill();
        String filled = Files.readString(page);
        assertThat(filled).startsWith("before\n").endsWith("<!-- /results -->\nafter\n");
        return filled;
    }
}
