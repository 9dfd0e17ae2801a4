package io.journalq.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.compare.Sweep.Knob;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.Tuning;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SweepTest {
    private static final Tuning START = new Tuning(100, false, 1, 64, Map.of("linger.ms", "5"));

    @Test
    void shouldKeepTheBestValueOfEachKnob() throws InterruptedException {
        Sweep sweep = new Sweep(
                tuning -> 1_000.0
                        - Math.abs(tuning.threads() - 400)
                        + (tuning.value("linger.ms").equals("0") ? 500 : 0),
                trial -> {});

        Tuning best = sweep.search(
                START,
                List.of(
                        new Knob(Tuning.THREADS, List.of("200", "400", "800")),
                        new Knob("linger.ms", List.of("0", "20"))));

        assertThat(best).isEqualTo(START.with(Tuning.THREADS, "400").with("linger.ms", "0"));
        assertThat(sweep.bestScore()).isEqualTo(1_500);
        assertThat(sweep.trials()).hasSize(6).element(2).isEqualTo("threads=400: 1,000 msg/s, kept");
    }

    @Test
    void shouldKeepWhatItHasWhenTheDifferenceIsNoise() throws InterruptedException {
        Sweep sweep = new Sweep(tuning -> tuning.threads() == 100 ? 1_000 : 1_010, trial -> {});

        assertThat(sweep.search(START, List.of(new Knob(Tuning.THREADS, List.of("50")))))
                .isEqualTo(START);
    }

    @ParameterizedTest
    @EnumSource(ProduceCase.class)
    void shouldHaveShippedPresetsForEveryCase(ProduceCase produceCase) {
        for (String broker : List.of("journalq", "kafka")) {
            Preset best = Presets.shipped()
                    .best(broker, produceCase, preset -> !preset.tuning().virtualThreads());

            assertThat(best.tuning().threads()).isPositive();
        }
    }

    @Test
    void shouldReplaceOnlyNewResults() {
        Preset old = new Preset("kafka", 1, START, 10, "here", List.of());
        Preset virtual = new Preset("kafka", 1, START.with(Tuning.CALLERS, "virtual"), 20, "here", List.of());
        Preset found = new Preset("kafka", 1, START.with(Tuning.THREADS, "7"), 15, "here", List.of());

        Presets presets = new Presets(List.of(old, virtual)).with(List.of(found));

        assertThat(presets.all()).containsExactly(found, virtual);
        assertThat(presets.best("kafka", ProduceCase.SYNC_SINGLE, any -> true)).isEqualTo(virtual);
    }
}
