package io.journalq.bench.produce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.SlowMetrics;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceSettings.Workload;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProduceRunTest {
    private static final int MESSAGE_SIZE_BYTES = 64;
    private static final int BATCH_SIZE = 10;
    private static final int CONSUMERS = 4;
    private static final int MESSAGES_PER_SECOND = 500;

    private final PayloadPool pool = PayloadPool.build("random", MESSAGE_SIZE_BYTES, 1 << 16);
    private final List<String> progress = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(ProduceCase.class)
    void shouldCountAndVerifyWhatWasWritten(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.NONE);

        assertThat(result.problem()).isNull();
        assertThat(result.errors()).isZero();
        assertThat(result.checks().acknowledged())
                .isPositive()
                .isEqualTo(result.checks().inJournal());
        assertThat(result.checks().verified()).isPositive();
        assertThat(result.checks().bytesPerMessage()).isEqualTo(MESSAGE_SIZE_BYTES);
        assertThat(result.measured().qps()).isPositive();
        assertThat(result.measured().latency().kind()).isEqualTo(Latency.CORRECTED);
        assertThat(result.measured().latency().p50Us()).isPositive();
        assertThat(result.measured().consumedPerSecond() > 0 && !produceCase.consumed())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldReadEverythingOnceForEachGroup(int groups) throws InterruptedException {
        FakeBroker fake = new FakeBroker(FakeBroker.Fault.NONE);

        ProduceResult result = run(fake, ProduceCase.ASYNC_BATCH_LZ4_CONSUMED, Duration.ofMillis(300), 0, groups);

        assertThat(result.problem()).isNull();
        assertThat(fake.readByMembers()).isEqualTo(groups * result.checks().inJournal());
    }

    @Test
    void shouldTellHowFastItGoesEverySecond() throws InterruptedException {
        run(ProduceCase.ASYNC_BATCH_LZ4_CONSUMED, FakeBroker.Fault.NONE, Duration.ofMillis(2_100));

        assertThat(progress)
                .isNotEmpty()
                .allMatch(line -> line.matches("fake case 4, \\d+ of 2 s: .* msg/s, consumed .*"));
    }

    @ParameterizedTest
    @EnumSource(ProduceCase.class)
    void shouldNoticeWhenAcknowledgedMessagesAreMissing(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.LOSE);

        assertThat(result.problem()).contains("acknowledged, but the journal grew by");
        assertThat(result.checks().inJournal()).isLessThan(result.checks().acknowledged());
    }

    @Test
    void shouldNoticeWhenMessagesAreThereTwice() throws InterruptedException {
        ProduceResult result = run(ProduceCase.ASYNC_BATCH_LZ4, FakeBroker.Fault.DUPLICATE);

        assertThat(result.problem()).contains("acknowledged, but the journal grew by");
        assertThat(result.checks().inJournal()).isGreaterThan(result.checks().acknowledged());
    }

    @ParameterizedTest
    @EnumSource(ProduceCase.class)
    void shouldNoticeWhenContentDiffers(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.DAMAGE);

        assertThat(result.problem()).contains("holds a message that was not sent");
    }

    @Test
    void shouldReportErrorsWhenTheBrokerRefuses() throws InterruptedException {
        ProduceResult result = run(ProduceCase.SYNC_SINGLE, FakeBroker.Fault.REFUSE);

        assertThat(result.errors()).isPositive();
        assertThat(result.problem()).contains("messages failed").contains("refused");
        assertThat(result.checks().acknowledged()).isEqualTo(result.checks().inJournal());
    }

    @ParameterizedTest
    @EnumSource(
            value = ProduceCase.class,
            names = {"SYNC_SINGLE", "ASYNC_BATCH_LZ4"})
    void shouldNotSpinWhenTheBrokerIsDown(ProduceCase produceCase) throws InterruptedException {
        FakeBroker down = new FakeBroker(FakeBroker.Fault.DOWN);

        ProduceResult result = run(down, produceCase, Duration.ofMillis(300), 0);

        assertThat(result.problem()).contains("messages failed").contains("refused");
        // Two callers for 400 ms, with pauses of 1, 2, 4 and so on ms between calls that take 1 ms.
        assertThat(down.refusals()).isBetween(2L, 40L);
    }

    @ParameterizedTest
    @EnumSource(
            value = ProduceCase.class,
            names = {"SYNC_SINGLE", "ASYNC_BATCH_LZ4"})
    void shouldSendNoFasterThanTheRateWhenThereIsOne(ProduceCase produceCase) throws InterruptedException {
        long startNs = System.nanoTime();

        ProduceResult result =
                run(new FakeBroker(FakeBroker.Fault.NONE), produceCase, Duration.ofMillis(400), MESSAGES_PER_SECOND);

        double seconds = (System.nanoTime() - startNs) / 1e9;
        assertThat(result.problem()).isNull();
        // One call of each caller is due at the beginning.
        assertThat(result.checks().acknowledged())
                .isBetween(1L, (long) (seconds * MESSAGES_PER_SECOND) + 2 * BATCH_SIZE);
        assertThat(result.measured().latency().kind()).isEqualTo(Latency.FROM_SCHEDULE);
        assertThat(result.measured().latency().p50Us())
                .isGreaterThanOrEqualTo(result.measured().serviceTime().p50Us() * 0.99);
    }

    @Test
    void shouldCountOnlyTheMeasuredTimeWhenMetricsAreSlow() throws IOException, InterruptedException {
        Duration duration = Duration.ofMillis(600);
        try (SlowMetrics metrics = new SlowMetrics((int) duration.toMillis())) {
            FakeBroker fake = new FakeBroker(FakeBroker.Fault.NONE, metrics.address());

            ProduceResult result = run(fake, ProduceCase.SYNC_SINGLE, duration, MESSAGES_PER_SECOND);

            assertThat(result.problem()).isNull();
            assertThat(result.measured().qps()).isBetween(MESSAGES_PER_SECOND * 0.5, MESSAGES_PER_SECOND * 1.5);
        }
    }

    @Test
    void shouldCountTheWaitWhenCallsComeLate() throws InterruptedException {
        // Two callers at 1 ms a message manage 2,000 a second at most; ten times as many are due.
        ProduceResult result =
                run(new FakeBroker(FakeBroker.Fault.NONE), ProduceCase.SYNC_SINGLE, Duration.ofMillis(400), 20_000);

        assertThat(result.measured().latency().maxUs())
                .isGreaterThan(3 * result.measured().serviceTime().p50Us());
        assertThat(result.measured().latency().p50Us())
                .isGreaterThan(result.measured().serviceTime().p50Us());
    }

    @ParameterizedTest
    @EnumSource(
            value = ProduceCase.class,
            names = {"SYNC_SINGLE", "ASYNC_BATCH_LZ4"})
    void shouldCountTheLatencyOfCallsThatEndWhenTheTimeIsOver(ProduceCase produceCase) throws InterruptedException {
        ProduceResult result = run(produceCase, FakeBroker.Fault.STALL);

        assertThat(result.problem()).isNull();
        assertThat(result.measured().serviceTime().maxUs())
                .isGreaterThan(1_000.0 * (FakeBroker.STALL_ENDS_MS - FakeBroker.STALL_BEGINS_MS) / 2);
    }

    @ParameterizedTest
    @EnumSource(
            value = ProduceCase.class,
            names = {"SYNC_SINGLE", "ASYNC_BATCH_LZ4"})
    void shouldCountTheCallsThatWereDueInAStallAtTheEnd(ProduceCase produceCase) throws InterruptedException {
        int perSecond = produceCase.batched() ? MESSAGES_PER_SECOND * BATCH_SIZE : MESSAGES_PER_SECOND;
        Duration duration = Duration.ofMillis(600);

        ProduceResult result = run(new FakeBroker(FakeBroker.Fault.STALL), produceCase, duration, perSecond);

        assertThat(result.problem()).isNull();
        // Two thirds of the calls were due in the stall, and the last of them waited until it ended.
        assertThat(result.measured().latency().count())
                .isGreaterThan(MESSAGES_PER_SECOND * duration.toMillis() / 1_000 * 8 / 10);
        assertThat(result.measured().latency().p50Us())
                .isGreaterThan(1_000.0 * (FakeBroker.STALL_ENDS_MS - duration.toMillis()));
    }

    @Test
    void shouldEndTheConsumersWhenTheRunFails() throws InterruptedException {
        FakeBroker fake = new FakeBroker(FakeBroker.Fault.NO_PRODUCER);

        assertThatThrownBy(() -> run(fake, ProduceCase.ASYNC_BATCH_LZ4_CONSUMED, Duration.ofMillis(300), 0))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("no producer");

        assertThat(fake.closedConsumers().tryAcquire(CONSUMERS, 20, TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void shouldReadTheCasesOfACommandLine() {
        assertThat(ProduceCase.parse("all")).containsExactly(ProduceCase.values());
        assertThat(ProduceCase.parse("3, 1")).containsExactly(ProduceCase.ASYNC_BATCH_LZ4, ProduceCase.SYNC_SINGLE);
        assertThatThrownBy(() -> ProduceCase.parse("5"))
                .isInstanceOf(BenchException.class)
                .hasMessage("there is no case '5'; use 1, 2, 3, 4 or all");
    }

    private ProduceResult run(ProduceCase produceCase, FakeBroker.Fault fault) throws InterruptedException {
        return run(produceCase, fault, Duration.ofMillis(300));
    }

    private ProduceResult run(ProduceCase produceCase, FakeBroker.Fault fault, Duration duration)
            throws InterruptedException {
        return run(new FakeBroker(fault), produceCase, duration, 0);
    }

    private ProduceResult run(FakeBroker fake, ProduceCase produceCase, Duration duration, long messagesPerSecond)
            throws InterruptedException {
        return run(fake, produceCase, duration, messagesPerSecond, 0);
    }

    private ProduceResult run(
            FakeBroker fake, ProduceCase produceCase, Duration duration, long messagesPerSecond, int groups)
            throws InterruptedException {
        ProduceSettings settings = new ProduceSettings(
                produceCase,
                new Workload("topic", 4, MESSAGE_SIZE_BYTES, "random", BATCH_SIZE, CONSUMERS, groups),
                new Tuning(2, false, 1, 8, Map.of()),
                messagesPerSecond,
                Duration.ofMillis(100),
                duration);
        return new ProduceRun(fake, fake, fake, settings, pool, progress::add).run();
    }
}
