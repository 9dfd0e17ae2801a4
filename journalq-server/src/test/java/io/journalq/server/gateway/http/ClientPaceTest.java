package io.journalq.server.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.gateway.http.ClientPace.Verdict;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClientPaceTest {
    private static final long ACCEPTED = seconds(100);

    private final ClientPace pace = new ClientPace(ACCEPTED);

    private static long seconds(long count) {
        return TimeUnit.SECONDS.toNanos(count);
    }

    @Test
    void shouldBeSlowWhenTheHeadDoesNotArriveWithin10Seconds() {
        assertThat(pace.checkHead(ACCEPTED + seconds(10))).isEqualTo(Verdict.IDLE);

        pace.onBytes(10);

        assertThat(pace.checkHead(ACCEPTED + seconds(10) - 1)).isEqualTo(Verdict.FAST_ENOUGH);
        assertThat(pace.checkHead(ACCEPTED + seconds(10))).isEqualTo(Verdict.SLOW_HEAD);
    }

    @Test
    void shouldBeIdleWhenNoRequestFollowsWithinAMinute() {
        pace.endHead(ACCEPTED);
        pace.onProgress(ACCEPTED + seconds(5));

        assertThat(pace.checkHead(ACCEPTED + seconds(65) - 1)).isEqualTo(Verdict.FAST_ENOUGH);
        assertThat(pace.checkHead(ACCEPTED + seconds(65))).isEqualTo(Verdict.IDLE);

        pace.beginHead(ACCEPTED + seconds(64));

        assertThat(pace.checkHead(ACCEPTED + seconds(65))).isEqualTo(Verdict.FAST_ENOUGH);
    }

    @Test
    void shouldBeSlowWhenLessThan5KiBOfABodyArriveIn5Seconds() {
        pace.beginWindow(ACCEPTED);
        pace.onBytes(5 * 1024);
        assertThat(pace.checkBody(ACCEPTED + seconds(5))).isEqualTo(Verdict.FAST_ENOUGH);

        pace.onBytes(5 * 1024 - 1);

        assertThat(pace.checkBody(ACCEPTED + seconds(9))).isEqualTo(Verdict.FAST_ENOUGH);
        assertThat(pace.checkBody(ACCEPTED + seconds(10))).isEqualTo(Verdict.SLOW_BODY);
    }

    @Test
    void shouldStallWhenItHoldsMemoryThatOthersWaitForAndSendsLittle() {
        pace.beginHold(ACCEPTED);
        assertThat(pace.isStalling(ACCEPTED + seconds(1), true, true)).isFalse();
        pace.onBytes(1024);

        assertThat(pace.isStalling(ACCEPTED + seconds(5), true, false)).isFalse();
        assertThat(pace.isStalling(ACCEPTED + seconds(6), true, false)).isTrue();
        assertThat(pace.isStalling(ACCEPTED + seconds(6), false, false)).isFalse();
    }
}
