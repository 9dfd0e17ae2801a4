package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class BrokerSessionsTest {
    private static final long TIMEOUT_MS = 3_000;
    private static final long RESET_TIMEOUT_MS = 400;
    private static final long TICK_MS = 100;
    private static final List<Integer> BROKERS = List.of(1, 2, 3);
    private static final int NOBODY = -1;

    private final BrokerSessions sessions = new BrokerSessions(TIMEOUT_MS, RESET_TIMEOUT_MS);
    private long nowMs = 50_000;

    /** The brokers that expire until a time, in order, and when they do. */
    private List<Integer> expiredAt(long atMs) {
        List<Integer> expired = List.of();
        while (nowMs < atMs) {
            nowMs += TICK_MS;
            expired = sessions.expired(BROKERS, nowMs);
        }
        return expired;
    }

    @Test
    void shouldExpireABrokerWhenItSendsNoHeartbeatForTheTimeout() {
        sessions.begin(BROKERS, NOBODY, nowMs);
        long beganMs = nowMs;
        expiredAt(beganMs + 2_000);
        sessions.onHeartbeat(2, 7, nowMs);

        assertThat(expiredAt(beganMs + TIMEOUT_MS - TICK_MS)).isEmpty();
        assertThat(expiredAt(beganMs + TIMEOUT_MS)).containsExactly(1, 3);
        assertThat(expiredAt(beganMs + 2_000 + TIMEOUT_MS - TICK_MS)).containsExactly(1, 3);
        assertThat(expiredAt(beganMs + 2_000 + TIMEOUT_MS)).containsExactly(1, 2, 3);

        sessions.onHeartbeat(3, 7, nowMs);
        assertThat(expiredAt(nowMs + TICK_MS)).containsExactly(1, 2);
    }

    @Test
    void shouldWaitLessWhenTheBrokerWasTheControllerOrItsConnectionWasReset() {
        sessions.begin(BROKERS, 3, nowMs);
        long beganMs = nowMs;
        sessions.onReset(1, nowMs);

        assertThat(expiredAt(beganMs + RESET_TIMEOUT_MS - TICK_MS)).isEmpty();
        assertThat(expiredAt(beganMs + RESET_TIMEOUT_MS)).containsExactly(1);
        assertThat(nowMs).isEqualTo(beganMs + BrokerSessions.PREDECESSOR_TIMEOUT_MS - TICK_MS);
        assertThat(expiredAt(beganMs + BrokerSessions.PREDECESSOR_TIMEOUT_MS)).containsExactly(1, 3);
    }

    @Test
    void shouldNotWaitLongerWhenAConnectionIsReset() {
        // given a broker that was not heard from for long
        sessions.begin(BROKERS, NOBODY, nowMs);
        long beganMs = nowMs;
        expiredAt(beganMs + TIMEOUT_MS - TICK_MS);

        // when another connection of it ends
        sessions.onReset(1, nowMs);

        // then
        assertThat(expiredAt(beganMs + TIMEOUT_MS)).containsExactly(1, 2, 3);
    }

    @Test
    void shouldGiveTheLastControllerTwoHeartbeatsWhenTheyAreFarApart() {
        long resetTimeoutMs = 2 * BrokerSessions.PREDECESSOR_TIMEOUT_MS;
        BrokerSessions slow = new BrokerSessions(TIMEOUT_MS, resetTimeoutMs);
        slow.begin(BROKERS, 3, nowMs);

        long beganMs = nowMs;
        for (; nowMs < beganMs + resetTimeoutMs; nowMs += TICK_MS) {
            assertThat(slow.expired(BROKERS, nowMs)).isEmpty();
        }
        assertThat(slow.expired(BROKERS, beganMs + resetTimeoutMs)).containsExactly(3);
    }

    @Test
    void shouldForgetTheResetWhenTheBrokerIsHeardFromOverAnotherConnection() {
        sessions.begin(BROKERS, NOBODY, nowMs);
        sessions.onReset(1, nowMs);
        expiredAt(nowMs + 500);
        sessions.onHeartbeat(1, 7, nowMs);
        sessions.onHeartbeat(2, 7, nowMs);
        sessions.onHeartbeat(3, 7, nowMs);

        assertThat(expiredAt(nowMs + TIMEOUT_MS - TICK_MS)).isEmpty();
    }

    @Test
    void shouldExpireNobodyWhenThisProcessItselfWasPaused() {
        sessions.begin(BROKERS, NOBODY, nowMs);
        expiredAt(nowMs + 1_000);

        // when this process does nothing for a while
        nowMs += 60_000;

        // then brokers have as much time left as before
        assertThat(sessions.expired(BROKERS, nowMs)).isEmpty();
        assertThat(expiredAt(nowMs + TIMEOUT_MS - 1_000 - TICK_MS)).isEmpty();
        assertThat(expiredAt(nowMs + TICK_MS)).containsExactly(1, 2, 3);
    }

    @Test
    void shouldGiveABrokerTimeWhenItIsNew() {
        sessions.begin(List.of(), NOBODY, nowMs);
        long beganMs = nowMs;

        assertThat(expiredAt(beganMs + TIMEOUT_MS)).isEmpty();
        assertThat(expiredAt(beganMs + TICK_MS + TIMEOUT_MS)).containsExactly(1, 2, 3);
        assertThat(sessions.metadataOffset(1)).isZero();
        sessions.onHeartbeat(1, 7, nowMs);
        assertThat(sessions.metadataOffset(1)).isEqualTo(7);
        assertThat(sessions.metadataOffset(9)).isEqualTo(-1);
    }
}
