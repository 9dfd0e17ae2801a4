package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
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
}
