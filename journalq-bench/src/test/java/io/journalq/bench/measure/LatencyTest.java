package io.journalq.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LatencyTest {
    @Test
    void shouldGivePercentilesInMicroseconds() {
        Histogram histogram = new Histogram(Latency.HIGHEST_NS, Latency.DIGITS);
        for (int i = 1; i <= 1000; i++) {
            histogram.recordValue(i * 1_000L);
        }

        Latency latency = Latency.of(Latency.SERVICE_TIME, histogram);

        assertThat(latency.count()).isEqualTo(1000);
        assertThat(latency.p50Us()).isCloseTo(500, within(1.0));
        assertThat(latency.p95Us()).isCloseTo(950, within(1.0));
        assertThat(latency.p99Us()).isCloseTo(990, within(1.0));
        assertThat(latency.p999Us()).isCloseTo(999, within(1.0));
        assertThat(latency.maxUs()).isCloseTo(1000, within(1.0));
    }

    @Test
    void shouldBeAllZeroWhenNothingWasMeasured() {
        Latency latency = Latency.of(Latency.SERVICE_TIME, new Histogram(Latency.HIGHEST_NS, Latency.DIGITS));

        assertThat(latency.count()).isZero();
        assertThat(latency.maxUs()).isZero();
        assertThat(latency.meanUs()).isZero();
    }
}
