package io.journalq.bench.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OutputTest {
    private static final Map<String, Object> ABOUT = Map.of("machine", "2 x test");

    private static Map<String, Object> row(Object benchCase, long qps, String check) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("case", benchCase);
        row.put("journalq_qps", qps);
        row.put("ratio", 3.25);
        row.put("consumed_per_s", null);
        row.put("check", check);
        return row;
    }

    @Test
    void shouldHoldResultsInAnArrayWhenWrittenAsJson() throws IOException {
        String text = Output.format(
                Output.Format.JSON,
                ABOUT,
                List.of(row("1", 150_000, "passed"), row("2", 120_000, "passed")),
                Map.of("runs", List.of(1, 2, 3)));

        JsonNode document = new ObjectMapper().readTree(text);
        assertThat(document.get("machine").asText()).isEqualTo("2 x test");
        assertThat(document.get("results")).hasSize(2);
        assertThat(document.get("runs")).hasSize(3);
        assertThat(document.get("results").get(0).get("case").asText()).isEqualTo("1");
        assertThat(document.get("results").get(0).get("journalq_qps").isNumber())
                .isTrue();
        assertThat(document.get("results").get(1).get("ratio").asDouble()).isEqualTo(3.25);
        assertThat(document.get("results").get(1).get("consumed_per_s").isNull())
                .isTrue();
    }

    @Test
    void shouldQuoteWhatHoldsACommaWhenWrittenAsCsv() {
        String text = Output.format(Output.Format.CSV, ABOUT, List.of(row("1", 150_000, "5 lost, \"why\"")), Map.of());

        assertThat(text.lines())
                .containsExactly(
                        "case,journalq_qps,ratio,consumed_per_s,check,machine",
                        "1,150000,3.25,,\"5 lost, \"\"why\"\"\",2 x test");
    }

    @Test
    void shouldShowEveryValueAndWhereItWasMeasuredWhenWrittenAsTable() {
        String text = Output.format(Output.Format.TABLE, ABOUT, List.of(row("1", 150_000, "passed")), Map.of());

        assertThat(text)
                .containsPattern("journalq_qps +150,000")
                .containsPattern("ratio +3\\.3")
                .containsPattern("consumed_per_s +-")
                .contains("machine: 2 x test");
    }
}
