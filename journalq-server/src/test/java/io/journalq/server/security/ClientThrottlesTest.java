package io.journalq.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;
import io.journalq.server.metadata.QuotaKeys;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests how long clients have to wait, with a clock that the test advances. */
class ClientThrottlesTest {
    private static final Part DEFAULT = new Part(null);
    private static final Principal ANONYMOUS = Principal.ANONYMOUS;

    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 10));
    private long nowNanos = 5_000;
    private final ClientThrottles throttles = new ClientThrottles(this::quotas, () -> nowNanos);

    @Test
    void shouldLetEverybodyGoWhenNobodyIsLimited() {
        assertThat(throttles.isActive()).isFalse();
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", Long.MAX_VALUE / 2))
                .isZero();
    }

    @Test
    void shouldHoldAClientToItsRateAfterABurstOfASecond() {
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1_000);

        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 1_000))
                .isZero();
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 500))
                .isEqualTo(500);
        passMs(500);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 100))
                .isEqualTo(100);
        passMs(3_600_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 1_100))
                .as("an hour of nothing is worth one second")
                .isEqualTo(100);
    }

    @Test
    void shouldGiveTheRateThatWasAllowedOverALongTime() {
        limit(null, new Part("a"), QuotaKeys.FETCH_BYTES, 1_000);
        long used = 0;
        long begunNanos = nowNanos;

        while (nowNanos - begunNanos < TimeUnit.SECONDS.toNanos(100)) {
            used += 70;
            passMs(Math.max(1, throttles.useBytes(QuotaKeys.FETCH_BYTES, ANONYMOUS, "a", 70)));
        }

        assertThat(used).isBetween(100_000L, 102_000L);
    }

    @Test
    void shouldBoundTheWait() {
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1);

        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 1L << 40))
                .isEqualTo(ClientThrottles.MAX_WAIT_MS);
    }

    @Test
    void shouldKeepWaitingWhenADebtIsLongerThanTheClockCanTell() {
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1);

        // 100 batches of 100 MB on several connections at once
        for (int i = 0; i < 100; i++) {
            assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 100_000_000))
                    .as("request %d", i)
                    .isEqualTo(ClientThrottles.MAX_WAIT_MS);
        }
    }

    @Test
    void shouldCountClientsOfADefaultEachForItself() {
        limit(null, DEFAULT, QuotaKeys.PRODUCE_BYTES, 1_000);

        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 2_000))
                .isEqualTo(1_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "b", 1_000))
                .isZero();
    }

    @Test
    void shouldCountClientsOfOneUserTogether() {
        limit(DEFAULT, null, QuotaKeys.PRODUCE_BYTES, 1_000);

        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 1_000))
                .isZero();
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "b", 1_000))
                .isEqualTo(1_000);
    }

    @Test
    void shouldTakeTheMostPreciseLimit() {
        limit(null, DEFAULT, QuotaKeys.PRODUCE_BYTES, 1);
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 2);
        limit(DEFAULT, new Part("a"), QuotaKeys.PRODUCE_BYTES, 3);
        limit(new Part(ANONYMOUS.name()), null, QuotaKeys.PRODUCE_BYTES, 4);
        limit(new Part(ANONYMOUS.name()), DEFAULT, QuotaKeys.PRODUCE_BYTES, 5);

        assertThat(quotas().find(QuotaKeys.PRODUCE_BYTES, ANONYMOUS.name(), "a").limit())
                .isEqualTo(5);
        limit(new Part(ANONYMOUS.name()), DEFAULT, QuotaKeys.PRODUCE_BYTES, null);
        assertThat(quotas().find(QuotaKeys.PRODUCE_BYTES, ANONYMOUS.name(), "a").limit())
                .isEqualTo(4);
        assertThat(quotas().find(QuotaKeys.PRODUCE_BYTES, "b", "a").limit()).isEqualTo(3);
        assertThat(quotas().find(QuotaKeys.PRODUCE_BYTES, "b", "b").limit()).isEqualTo(1);
        assertThat(quotas().find(QuotaKeys.FETCH_BYTES, "b", "b")).isNull();
    }

    @Test
    void shouldCountLoopTimeInPercentOfOneLoop() {
        limit(null, new Part("a"), QuotaKeys.REQUEST_PERCENTAGE, 10.0);

        assertThat(throttles.useLoopTime(ANONYMOUS, "a", TimeUnit.MILLISECONDS.toNanos(100)))
                .isZero();
        assertThat(throttles.useLoopTime(ANONYMOUS, "a", TimeUnit.MILLISECONDS.toNanos(10)))
                .isEqualTo(100);
    }

    @Test
    void shouldPayOffADebtAtTheNewRateWhenALimitIsRaised() {
        // given a client that owes hours, because its limit was set too low
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 10_000_000))
                .isEqualTo(ClientThrottles.MAX_WAIT_MS);

        // when
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1_000_000);

        // then
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 0))
                .isBetween(9_990, 10_000);
        passMs(10_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 0))
                .isZero();
    }

    @Test
    void shouldOweTheSameAmountWhenALimitIsLowered() {
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 2_000))
                .isEqualTo(1_000);

        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 100);

        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "a", 0))
                .isEqualTo(10_000);
    }

    @Test
    void shouldForgetLimitsThatAreRemoved() {
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, 1);
        limit(null, new Part("a"), QuotaKeys.PRODUCE_BYTES, null);

        assertThat(throttles.isActive()).isFalse();
    }

    @Test
    void shouldCountFurtherClientsTogetherWhenAllThatAreCountedOweSomething() {
        // given the maximum number of clients that are counted, each ahead of its rate
        limit(null, DEFAULT, QuotaKeys.PRODUCE_BYTES, 1_000);
        for (int i = 0; i < ClientThrottles.MAX_COUNTED; i++) {
            assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "counted-" + i, 2_000))
                    .isEqualTo(1_000);
        }

        // when two more clients send requests, then the second waits for the usage of the first
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "further-1", 2_000))
                .isEqualTo(1_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "further-2", 2_000))
                .isEqualTo(3_000);

        // and once no client has a debt, a new client is counted alone again
        passMs(10_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "further-1", 2_000))
                .isEqualTo(1_000);
        assertThat(throttles.useBytes(QuotaKeys.PRODUCE_BYTES, ANONYMOUS, "further-2", 2_000))
                .isEqualTo(1_000);
    }

    private ClientQuotas quotas() {
        return machine.image().quotas();
    }

    private void limit(Part user, Part client, String key, Number limit) {
        var changes = new java.util.TreeMap<String, Double>();
        changes.put(key, limit == null ? null : limit.doubleValue());
        machine.replay(
                machine.alterQuotas(new QuotaEntity(user, client), changes).records());
    }

    private void passMs(long ms) {
        nowNanos += TimeUnit.MILLISECONDS.toNanos(ms);
    }
}
