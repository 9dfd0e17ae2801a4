package io.journalq.bench.produce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.PayloadPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProduceRunTest {
    private static final int MESSAGE_SIZE_BYTES = 64;

    private final PayloadPool pool = PayloadPool.build("random", MESSAGE_SIZE_BYTES, 1 << 16);
    private final List<String> progress = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(ProduceCase.class)
    void shouldCountAndVerifyWhatWasWritten(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.NONE);

        assertThat(result.problem()).isNull();
        assertThat(result.errors()).isZero();
        assertThat(result.acknowledged()).isPositive().isEqualTo(result.inJournal());
        assertThat(result.verified()).isPositive();
        assertThat(result.qps()).isPositive();
        assertThat(result.bytesPerMessage()).isEqualTo(MESSAGE_SIZE_BYTES);
        assertThat(result.latency().p50Us()).isPositive();
        assertThat(result.consumedPerSecond() > 0 && !produceCase.consumed()).isFalse();
    }

    @Test
    void shouldTellHowFastItGoesEverySecond() throws InterruptedException {
        run(ProduceCase.ASYNC_BATCH_LZ4_CONSUMED, FakeBroker.Fault.NONE, Duration.ofMillis(2_100));

        assertThat(progress).isNotEmpty().allMatch(line -> line.matches("fake case 4: .* msg/s, consumed .*"));
    }

    @ParameterizedTest
    @EnumSource(ProduceCase.class)
    void shouldNoticeWhenAcknowledgedMessagesAreMissing(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.LOSE);

        assertThat(result.problem()).contains("acknowledged, but the journal grew by");
        assertThat(result.inJournal()).isLessThan(result.acknowledged());
    }

    @Test
    void shouldNoticeWhenMessagesAreThereTwice() throws InterruptedException {
        ProduceResult result = run(ProduceCase.ASYNC_BATCH_LZ4, FakeBroker.Fault.DUPLICATE);

        assertThat(result.problem()).contains("acknowledged, but the journal grew by");
        assertThat(result.inJournal()).isGreaterThan(result.acknowledged());
    }

    @ParameterizedTest
    @EnumSource(
            value = ProduceCase.class,
            names = {"ASYNC_BATCH_LZ4", "ASYNC_BATCH_LZ4_CONSUMED"})
    void shouldNoticeWhenContentDiffers(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.DAMAGE);

        assertThat(result.problem()).contains("holds what nobody sent");
    }

    @Test
    void shouldReportErrorsWhenTheBrokerRefuses() throws InterruptedException {
        ProduceResult result = run(ProduceCase.SYNC_SINGLE, FakeBroker.Fault.REFUSE);

        assertThat(result.errors()).isPositive();
        assertThat(result.problem()).contains("messages failed").contains("refused");
        assertThat(result.acknowledged()).isEqualTo(result.inJournal());
    }

    @Test
    void shouldReadTheCasesOfACommandLine() {
        assertThat(ProduceCase.parse("all")).containsExactly(ProduceCase.values());
        assertThat(ProduceCase.parse("3, 1")).containsExactly(ProduceCase.ASYNC_BATCH_LZ4, ProduceCase.SYNC_SINGLE);
        assertThatThrownBy(() -> ProduceCase.parse("5"))
                .isInstanceOf(BenchException.class)
                .hasMessage("there is no case '5'; give 1, 2, 3, 4 or all");
    }

    private ProduceResult run(ProduceCase produceCase, FakeBroker.Fault fault) throws InterruptedException {
        return run(produceCase, fault, Duration.ofMillis(300));
    }

    private ProduceResult run(ProduceCase produceCase, FakeBroker.Fault fault, Duration duration)
            throws InterruptedException {
        FakeBroker fake = new FakeBroker(fault);
        ProduceSettings settings = new ProduceSettings(
                produceCase,
                "topic",
                4,
                MESSAGE_SIZE_BYTES,
                "random",
                2,
                false,
                1,
                10,
                8,
                3,
                Duration.ofMillis(100),
                duration,
                Map.of());
        return new ProduceRun(fake, fake, settings, pool, progress::add).run();
    }
}
