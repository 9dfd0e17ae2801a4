package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.payload.PayloadPool;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchWorkTest {
    private static final Duration SHORT = Duration.ofMillis(200);

    @ParameterizedTest
    @CsvSource({"text, false", "text, true", "random, true"})
    void shouldBuildSoundBatches(String payload, boolean checked) throws InterruptedException {
        PayloadPool pool = PayloadPool.build(payload, 100, 1 << 16);

        assertThat(new BatchWork(pool, 10, checked).run(SHORT, SHORT)).isPositive();
    }
}
