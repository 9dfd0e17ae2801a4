package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.measure.Latency;
import io.journalq.bench.produce.Callers;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.Tuning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProduceSummaryTest {
    private static final int TERMINAL_COLUMNS = 80;
    private static final String LONG_PROBLEM = "3 of 1,000 messages were acknowledged but are not in the journal";

    private static ProduceResult result(ProduceCase one, boolean virtual, String problem) {
        Tuning tuning = new Tuning(one.batched() ? 2 : 6_400, virtual, 1, 64, Map.of());
        Latency latency = new Latency(Latency.CORRECTED, 1_000, 10_623.5, 21_000, 123_456.7, 1e6, 1e6, 11_000);
        return new ProduceResult(
                new ProduceSettings(
                        one,
                        new ProduceSettings.Workload("t", 200, 1_024, "text", 100, 60, 0),
                        tuning,
                        0,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(5)),
                "journalq 0.1.0",
                "journalq 0.1.0",
                new ProduceResult.Measured(12_345_678.9, 0, latency, latency, null),
                0,
                new ProduceResult.Checks(1_000, 1_000, 1_000, problem, 100));
    }

    @Test
    void shouldFitATerminalWhenAllCasesRan() {
        List<ProduceResult> results = new ArrayList<>();
        for (ProduceCase one : ProduceCase.values()) {
            results.add(result(one, !one.batched(), null));
        }

        String text = ProduceSummary.of(results);

        assertThat(text.lines()).allMatch(line -> line.length() <= TERMINAL_COLUMNS);
        assertThat(text.lines().findFirst().orElseThrow()).matches("case +msg/s +p50 ms +p99 ms +check");
        assertThat(text)
                .containsPattern("\n1 sync, 1 message +12,345,679 +10\\.62 +123\\.46 +passed\n")
                .contains("Cases 1, 2: 6400 virtual threads, 1 producer\n")
                .contains("Cases 3, 4: 2 platform threads, 1 producer, 64 batches in flight each\n");
    }

    @Test
    void shouldStateTheReasonBelowTheTableWhenACheckFailed() {
        String text = ProduceSummary.of(List.of(result(ProduceCase.SYNC_SINGLE, true, LONG_PROBLEM)));

        assertThat(text).containsPattern("123\\.46 +FAILED\n").contains("\nCase 1 failed: " + LONG_PROBLEM + "\n");
    }

    @Test
    void shouldNameVirtualThreadsWhenTheJdkHasNone() {
        String text = ProduceSummary.of(List.of(result(ProduceCase.SYNC_SINGLE, false, null)));

        assertThat(text.contains("JDK 21 or newer has virtual threads")).isEqualTo(!Callers.virtualThreadsExist());
    }
}
