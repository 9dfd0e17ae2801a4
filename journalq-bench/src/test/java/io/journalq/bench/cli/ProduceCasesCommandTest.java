package io.journalq.bench.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.produce.Callers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as users run it, for a moment: a broker of its own in a process of its own. */
class ProduceCasesCommandTest {
    @Test
    void shouldRunAllCasesAgainstABrokerOfItsOwn(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.json");

        int exitCode = BenchMain.commandLine()
                .execute(
                        "produce",
                        "--case=all",
                        "--duration=500ms",
                        "--warmup=500ms",
                        "--partitions=20",
                        "--threads=4",
                        "--consumers=6",
                        "--output=json",
                        "--out=" + file);

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(exitCode).as("%s", document).isZero();
        assertThat(document.get("machine").asText()).isNotBlank();
        assertThat(document.get("results")).hasSize(4);
        for (JsonNode result : document.get("results")) {
            assertThat(result.get("check").asText()).isEqualTo("passed");
            assertThat(result.get("qps").asLong()).isPositive();
            assertThat(result.get("acknowledged").asLong())
                    .isEqualTo(result.get("in_journal").asLong());
            assertThat(result.get("verified_by_content").asLong()).isPositive();
        }
        assertThat(document.get("results").get(3).get("consumed_per_s").isNumber())
                .isTrue();
    }

    @Test
    @Tag("long")
    void shouldShowWhatEachNumberOfEventLoopsCostsTheBroker(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.json");

        int exitCode = BenchMain.commandLine()
                .execute(
                        "produce",
                        "--case=3",
                        "--shards=1,2",
                        "--duration=500ms",
                        "--warmup=100ms",
                        "--partitions=20",
                        "--out=" + file);

        JsonNode results = new ObjectMapper().readTree(file.toFile()).get("results");
        assertThat(exitCode).as("%s", results).isZero();
        assertThat(results).hasSize(2);
        assertThat(results.get(0).get("shards").asText()).isEqualTo("1");
        assertThat(results.get(0).get("hand_overs_per_request").asDouble()).isZero();
        assertThat(results.get(1).get("shards").asText()).isEqualTo("2");
        assertThat(results.get(1).get("hand_overs_per_request").asDouble()).isPositive();
        for (JsonNode result : results) {
            assertThat(result.get("wake_ups_per_request").asDouble()).isPositive();
            assertThat(result.get("broker_cpu_us_per_message").asDouble())
                    .isPositive()
                    .isLessThan(result.get("broker_cpu_us_per_request").asDouble());
        }
    }

    @Test
    void shouldPrintATableAndWriteAllValuesWhenTheFileIsNamedAsCsv(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.csv");
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream standardOut = System.out;
        System.setOut(new PrintStream(printed, true, UTF_8));
        int exitCode;
        try {
            exitCode = BenchMain.commandLine()
                    .execute(
                            "produce",
                            "--case=1",
                            "--duration=500ms",
                            "--warmup=100ms",
                            "--partitions=20",
                            "--message-size=100",
                            "--out=" + file);
        } finally {
            System.setOut(standardOut);
        }

        String table = printed.toString(UTF_8);
        assertThat(exitCode).as(table).isZero();
        assertThat(table.lines())
                .filteredOn(line -> !line.contains(file.toString()))
                .allMatch(line -> line.length() <= 80);
        assertThat(table)
                .contains("Case 1: " + (Callers.virtualThreadsExist() ? "6400 virtual" : "100 platform") + " threads")
                .endsWith("All values: " + file + "\n");
        assertThat(Files.readString(file)).startsWith("case,what,broker,").contains(",service_p99_us,");
    }
}
