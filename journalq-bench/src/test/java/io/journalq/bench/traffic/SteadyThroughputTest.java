package io.journalq.bench.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SteadyThroughputTest {
    private final SteadyThroughput throughput = new SteadyThroughput();

    private void add(double... rates) {
        for (double rate : rates) {
            throughput.add(rate);
        }
    }

    @Test
    void shouldNotBeSteadyAfterTooFewRounds() {
        add(100, 100, 100);

        assertThat(throughput.isSteady()).isFalse();
    }

    @Test
    void shouldNotBeSteadyWhileItRises() {
        add(100, 110, 130, 150);

        assertThat(throughput.isSteady()).isFalse();
    }

    @Test
    void shouldBecomeSteadyWhenItStopsRising() {
        add(100, 110, 130, 150, 152, 148);
        boolean early = throughput.isSteady();
        add(151);

        assertThat(early).isFalse();
        assertThat(throughput.isSteady()).isTrue();
    }

    @Test
    void shouldBeSteadyWhenItFalls() {
        add(100, 110, 90, 80);

        assertThat(throughput.isSteady()).isTrue();
    }
}
