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
    private Path directory;

    @BeforeEach
    void writeResults() throws IOException {
        Files.writeString(
                directory.resolve("r.json"),
                """
                {"results": [
                  {"broker": "a", "rate": 1000, "mps": 633145.0, "p99_us": 1234.5, "share": 2.04, "rss": 2097152},
                  {"broker": "b", "rate": 1000, "mps": 4002348.0, "p99_us": 20.0, "share": null, "rss": 0}]}
                """);
    }

    @Test
    void shouldMakeATableWhenColumnsAreNamed() throws IOException {
        String filled = fill("table r.json: broker, mps=messages/s:si, p99_us=p99:ms, share=ratio:x, rss=RSS:MiB");

        assertThat(filled)
                .contains("| broker | messages/s | p99 | ratio | RSS |\n|---|---|---|---|---|\n")
                .contains("| a | 633k | 1.23 | 2.0× | 2 |\n| b | 4.00M | 0.02 |  | 0 |\n")
                .doesNotContain("old");
    }

    @Test
    void shouldSetSidesBesideEachOtherWhenTheyAreNamed() throws IOException {
        Files.writeString(
                directory.resolve("s.json"),
                """
                {"results": [
                  {"broker": "a", "qos": "one", "size": 1024, "mps": 30000},
                  {"broker": "b", "qos": "one", "size": 1024, "mps": 15000},
                  {"broker": "a", "qos": "one", "size": 1024, "mps": 50000},
                  {"broker": "b", "qos": "two", "size": 100, "mps": 7}]}
                """);

        assertThat(fill("sides s.json: mps:si by broker over qos, size"))
                .contains("| qos | size | a | b | a / b |\n|---|---|---|---|---|\n")
                .contains("| one | 1,024 | 40k | 15k | not claimed: 1 repetition |\n| two | 100 |  | 7 |  |\n");
        assertThatThrownBy(() -> fill("sides s.json: mps by broker"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("VALUE:FORM by SIDE over KEY");
    }

    @Test
    void shouldGiveARatioOnlyWhenFiveRangesDoNotOverlap() throws IOException {
        writeSides("a", 10, 11, 12, 13, 14);
        assertThat(fill("sides s.json: mps:si by broker over rate")).contains("| 1 | 12 | 3 | 4.00× |");

        writeSides("a", 5, 11, 12, 13, 14);
        assertThat(fill("sides s.json: mps:si by broker over rate"))
                .contains("| 1 | 12 | 3 | not claimed: ranges overlap |");

        writeSides("a", 10, 11, 12, 13);
        assertThat(fill("sides s.json: mps:si by broker over rate"))
                .contains("| 1 | 12 | 3 | not claimed: 4 repetitions |");
    }

    @Test
    void shouldCountTheFasterSideWhenATallyIsWanted() throws IOException {
        writeSides("a", 10, 11, 12, 13, 14);
        Files.copy(directory.resolve("s.json"), directory.resolve("faster.json"));
        writeSides("a", 5, 11, 12, 13, 14);

        assertThat(fill("tally faster.json, s.json: mps by broker over rate per size"))
                .contains("| size | combinations | a faster | by | b faster | not claimed |\n")
                .contains("| 100 | 1 | 1 | 4.0× to 4.0× | 0 | 0 |\n| 100 | 1 | 0 |  | 0 | 1 |\n");
    }

    /** Five runs of broker b with rates of 1 to 5, and these of another; the rows hold the medians. */
    private void writeSides(String broker, int... rates) throws IOException {
        StringBuilder runs = new StringBuilder();
        for (int rate : rates) {
            runs.append("{\"broker\": \"%s\", \"rate\": 1, \"mps\": %d},".formatted(broker, rate));
        }
        for (int rate = 1; rate <= 5; rate++) {
            runs.append("{\"broker\": \"b\", \"rate\": 1, \"mps\": %d}%s".formatted(rate, rate < 5 ? "," : ""));
        }
        Files.writeString(
                directory.resolve("s.json"),
                """
                {"results": [{"broker": "%s", "rate": 1, "size": 100, "mps": 12},
                             {"broker": "b", "rate": 1, "size": 100, "mps": 3}],
                 "runs": [%s]}
                """
                        .formatted(broker, runs));
    }

    @Test
    void shouldClaimNothingWhenRangesOverlapOrRepetitionsAreFew() throws IOException {
        String text = "text\n{c.json 0 ratio x}, {c.json 0 ratio target:2.5}, {c.json 0 ratio target:4}\n";

        writeComparison(5, "[300-500]", "[100-200]");
        assertThat(fill(text)).contains("\n3.7×, met, missed\n");

        writeComparison(5, "[177-1684]", "[196-453]");
        assertThat(fill(text))
                .contains("\n" + "not claimed: ranges overlap, ".repeat(2) + "not claimed: ranges overlap\n");
        assertThat(fill("table c.json: ratio:x")).contains("| not claimed: ranges overlap |");

        writeComparison(3, "[300-500]", "[100-200]");
        assertThat(fill("table c.json: ratio:x")).contains("| not claimed: 3 repetitions |");
    }

    @Test
    void shouldClaimNothingWhenACheckFailed() throws IOException {
        writeComparison(5, "[300-500]", "[100-200]");
        failCheck("c.json", "\"ratio\"");
        assertThat(fill("table c.json: ratio:x")).contains("| not claimed: a check failed |");
        assertThat(fill("text\n{c.json 0 ratio target:2.5}\n")).contains("\nnot claimed: a check failed\n");

        writeSides("a", 10, 11, 12, 13, 14);
        failCheck("s.json", "\"mps\": 13");
        assertThat(fill("sides s.json: mps:si by broker over rate"))
                .contains("| 1 | 12 | 3 | not claimed: a check failed |");
        assertThat(fill("tally s.json: mps by broker over rate per size")).contains("| 100 | 1 | 0 |  | 0 | 1 |\n");
    }

    /** Adds a failed check before the only place with this text. */
    private void failCheck(String file, String place) throws IOException {
        Path results = directory.resolve(file);
        Files.writeString(
                results, Files.readString(results).replace(place, "\"check\": \"5 messages were lost\", " + place));
    }

    private void writeComparison(int repetitions, String own, String other) throws IOException {
        Files.writeString(
                directory.resolve("c.json"),
                """
                {"jdk": "OpenJDK 64-Bit Server VM 25.0.3+9-LTS", "method": "%d repetitions in turn",
                 "journalq": "journalq 0.1.0 {heap=512m} with client journalq 0.1.0-SNAPSHOT",
                 "results": [{"case": "1", "ratio": 3.69, "journalq_qps_range": "%s", "peer_qps_range": "%s",
                              "journalq_settings": "100 platform threads, 2 producers"}]}
                """
                        .formatted(repetitions, own, other));
    }

    @Test
    void shouldStateJdkClientAndCallersWhenTheyAreNamed() throws IOException {
        writeComparison(5, "[300000-500000]", "[1-2]");

        assertThat(fill(
                        "text\nJDK {c.json - jdk jdk}, {c.json - journalq client}, {c.json 0 journalq_settings callers},"
                                + " {c.json 0 journalq_qps_range si}\n"))
                .contains("\nJDK 25, journalq 0.1.0, 100 platform threads, [300k–500k]\n");
    }

    @Test
    void shouldFindFiguresWhenTheyAreTypedByHand() throws IOException {
        Path page = directory.resolve("typed.md");
        Files.writeString(
                page,
                """
                Messages of 1 KiB, 200 partitions, JDK 25, 2026-11-22: `10 %`.
                It is 3.7 times as fast, 1/8.3 of the time, 17 % idle.
                <!-- results text
                {r.json 0 mps si}
                -->
                633k
                <!-- /results -->
                ```
                50 ms
                ```
                | 602k/s | 3.5× | 24 µs |
                """);

        assertThat(new Document(page).typedFigures())
                .containsExactly("2: 3.7 times", "2: 1/8.3", "2: 17 %", "11: 602k", "11: 3.5×", "11: 24 µs");
    }

    @Test
    void shouldPutValuesIntoTextWhenTheyAreNamed() throws IOException {
        assertThat(fill("text\nFrom {r.json 0 mps si} to {r.json 1 mps plain} a second\n"))
                .contains("-->\nFrom 633k to 4,002,348 a second\n<!-- /results -->");
    }

    @Test
    void shouldDrawAChartWhenItIsAskedFor() throws IOException {
        assertThat(fill("chart r.json: mps over rate by broker to mps.png"))
                .contains("![Throughput, messages per second, over rate](mps.png)");
        assertThat(directory.resolve("mps.png")).isNotEmptyFile();
    }

    @Test
    void shouldNotChangeAgainWhenItIsCurrent() throws IOException {
        fill("table r.json: broker, mps:si");

        Document again = new Document(directory.resolve("page.md"));
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
                directory.resolve("page.md"), "before\n<!-- results " + what + " -->\nold\n<!-- /results -->\nafter\n");
        new Document(page).fill();
        String filled = Files.readString(page);
        assertThat(filled).startsWith("before\n").endsWith("<!-- /results -->\nafter\n");
        return filled;
    }
}
