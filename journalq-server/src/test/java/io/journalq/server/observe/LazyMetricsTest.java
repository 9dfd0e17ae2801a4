package io.journalq.server.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LazyMetricsTest {
    private final LazyMetrics metrics = new LazyMetrics();
    private final AtomicInteger bound = new AtomicInteger();

    @AfterEach
    void close() {
        metrics.close();
    }

    @Test
    void shouldCreateNothingUntilMetricsAreRead() {
        metrics.add(all -> {
            bound.incrementAndGet();
            all.counter("journalq.early", "Added before the first reading.", () -> 1);
        });
        assertThat(bound).hasValue(0);
        // when
        metrics.registry();
        String page = metrics.registry().scrape();
        // then
        assertThat(bound).hasValue(1);
        assertThat(page).contains("journalq_early_total 1.0").contains("jvm_memory_used_bytes");
    }

    @Test
    void shouldShowWhatIsAddedAfterTheFirstReading() {
        metrics.registry();
        // when
        metrics.add(all -> all.gauge("journalq.late", "Added after the first reading.", () -> 2));
        // then
        assertThat(metrics.registry().scrape()).contains("journalq_late 2.0");
    }

    @Test
    void shouldCreateNothingAfterTheClose() {
        metrics.add(all -> bound.incrementAndGet());
        // when
        metrics.close();
        // then
        assertThatThrownBy(metrics::registry).isInstanceOf(IllegalStateException.class);
        assertThat(bound).hasValue(0);
    }
}
