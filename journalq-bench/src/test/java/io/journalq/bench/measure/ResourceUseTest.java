package io.journalq.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResourceUseTest {
    private static final long BUSY_NS = 300_000_000L;

    @Test
    void shouldSeeThisProcessAtWork() {
        ResourceUse.Meter meter = ResourceUse.start(ProcessHandle.current().pid());

        beBusy();
        ResourceUse use = meter.stop();

        assertThat(use.seconds()).isBetween(0.3, 10.0);
        assertThat(use.clientCores()).isBetween(0.05, 1.0 + Runtime.getRuntime().availableProcessors());
        // The process stands for the broker and for the client here.
        assertThat(use.brokerCores()).isGreaterThan(0.05);
        assertThat(use.brokerResidentBytes()).isGreaterThan(10 << 20);
        assertThat(use.memoryPercent()).isBetween(0.0001, 200.0);
    }

    @Test
    void shouldCountNothingWhenTheBrokerRunsElsewhere() {
        ResourceUse use = ResourceUse.start(0).stop();

        assertThat(use.brokerCores()).isZero();
        assertThat(use.brokerResidentBytes()).isZero();
    }

    @Test
    void shouldReadAProcessThatIsGoneAsZero() {
        assertThat(ProcessSample.of(Integer.MAX_VALUE)).isEqualTo(new ProcessSample(0, 0, 0, 0));
    }

    private static void beBusy() {
        long endNs = System.nanoTime() + BUSY_NS;
        while (System.nanoTime() < endNs) {
            Thread.onSpinWait();
        }
    }
}
