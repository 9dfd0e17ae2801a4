package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class TrendTest {
    private static final int SAMPLES = 100;

    @Test
    void shouldFindGrowthWhenSamplesHaveNoiseAndPeaks() {
        // given
        Random random = new Random(1);
        double[] samples = new double[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            samples[i] = 1_000 + i + random.nextInt(20) + (i % 10 == 0 ? 5_000 : 0);
        }

        // when
        Trend trend = Trend.of(samples);

        // then
        assertThat(trend.growth()).isBetween(90.0, 110.0);
        assertThat(trend.grows(0.05, 10)).isTrue();
    }

    @Test
    void shouldFindNoGrowthWhenSamplesHaveOnlyNoiseAndPeaks() {
        // given
        Random random = new Random(2);
        double[] samples = new double[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            samples[i] = 1_000 + random.nextInt(20) + (i > 90 && i % 2 == 0 ? 5_000 : 0);
        }

        // when
        Trend trend = Trend.of(samples);

        // then
        assertThat(trend.grows(0.05, 10)).isFalse();
    }
}
