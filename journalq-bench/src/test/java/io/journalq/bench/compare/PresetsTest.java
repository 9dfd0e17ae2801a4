package io.journalq.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PresetsTest {
    @TempDir
    private Path directory;

    @Test
    void shouldReadWhatItWrote() {
        Presets presets = new Presets(List.of(new Preset(
                "kafka",
                3,
                new Tuning(2, false, 2, 64, Map.of("linger.ms", "5", "consumer.fetch.min.bytes", "1")),
                1_000_000,
                "2 x test",
                List.of("threads=1: 900,000 msg/s"))));

        presets.write(directory.resolve("presets.json"));

        assertThat(Presets.read(directory.resolve("presets.json")).all()).isEqualTo(presets.all());
    }

    @Test
    void shouldSayHowToMakePresetsWhenThereAreNone() throws IOException {
        Path broken = Files.writeString(directory.resolve("broken.json"), "[{\"broker\": 5, \"unknown\": true}");

        assertThatThrownBy(() -> Presets.read(broken))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("journalq-bench sweep");
        assertThatThrownBy(() -> new Presets(List.of()).best("kafka", ProduceCase.SYNC_SINGLE, any -> true))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("--sweep");
    }

    @Test
    void shouldTellProducerFromConsumerSettings() {
        Tuning tuning = new Tuning(2, false, 2, 64, Map.of("linger.ms", "5", "consumer.fetch.min.bytes", "1"));

        assertThat(tuning.producerSettings()).containsExactly(Map.entry("linger.ms", "5"));
        assertThat(tuning.consumerSettings()).containsExactly(Map.entry("fetch.min.bytes", "1"));
    }

    @Test
    void shouldGiveMedianAndRange() {
        assertThat(Spread.of(List.of(3.0, 1.0, 2.0), value -> value)).isEqualTo(new Spread(2, 1, 3));
        assertThat(Spread.of(List.of(4.0, 1.0), value -> value).median()).isEqualTo(2.5);
        assertThat(new Spread(0, 1.257, 1_234.6).range()).isEqualTo("[1.26-1235]");
    }
}
