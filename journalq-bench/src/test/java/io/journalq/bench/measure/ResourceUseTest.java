package io.journalq.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

class ResourceUseTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long BUSY_NS = 300_000_000L;
    private static final int WAITS = 50;

    @Test
    void shouldSeeThisProcessAtWork() {
        ResourceUse.Meter meter = ResourceUse.start(ProcessHandle.current().pid());

        beBusy();
        ResourceUse use = meter.stop();

        // The process stands for the client and for the broker here; the kernel counts in steps of 10 ms.
        assertThat(use.clientCores() * use.seconds()).isGreaterThan(0.9 * BUSY_NS / 1e9);
        assertThat(use.brokerCores() * use.seconds()).isGreaterThan(0.9 * BUSY_NS / 1e9);
        assertThat(use.brokerResidentBytes()).isGreaterThan(10 << 20);
        assertThat(use.memoryPercent()).isBetween(0.0001, 200.0);
    }

    @Test
    void shouldCountTheTimesThatAThreadIsWoken() throws InterruptedException {
        ResourceUse.Meter meter = ResourceUse.start(ProcessHandle.current().pid());

        for (int i = 0; i < WAITS; i++) {
            Thread.sleep(1);
        }
        ResourceUse use = meter.stop();

        assertThat(use.brokerWakeUps()).isBetween((long) WAITS, 100L * WAITS);
        assertThat(use.brokerPreemptions()).isNotNegative();
        assertThat(use.brokerHandOvers()).as("without metrics").isEqualTo(-1);
    }

    @Test
    void shouldCountNothingWhenTheBrokerRunsOnAnotherMachine() {
        ResourceUse use = ResourceUse.start(0).stop();

        assertThat(use.brokerCores()).isZero();
        assertThat(use.brokerResidentBytes()).isZero();
        assertThat(use.brokerWakeUps()).isZero();
    }

    @Test
    void shouldReadAProcessThatIsGoneAsZero() {
        assertThat(ProcessUsage.of(Integer.MAX_VALUE)).isEqualTo(new ProcessUsage(0, 0, 0, 0));
    }

    /** By the thread's own processor time, so that a crowded machine only takes longer. */
    private static void beBusy() {
        long endNs = THREADS.getCurrentThreadCpuTime() + BUSY_NS;
        while (THREADS.getCurrentThreadCpuTime() < endNs) {
            Thread.onSpinWait();
        }
    }
}
