package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.retry.MultipleLinearRandomRetry;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RatisSettingsTest {
    private static final QuorumConfig CONFIG = new QuorumConfig(
            Uuid.ZERO,
            null,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 1),
            List.of(),
            Path.of("unused"),
            false,
            QuorumConfig.LogSizes.DEFAULT,
            null);

    /** Half of the time to one and a half times: at random. */
    @ParameterizedTest
    @ValueSource(ints = {12, 50, 1_100, 100_000_000})
    void shouldSendToAVoterAgainSoonButNotAtOnceWhenItWasAwayForLong(int failures) {
        String policy = RaftServerConfigKeys.Log.Appender.retryPolicy(RatisSettings.of(CONFIG, Path.of("unused"), 300));

        long waitMs = MultipleLinearRandomRetry.parseCommaSeparated(policy)
                .handleAttemptFailure(() -> failures)
                .getSleepTime()
                .toLong(TimeUnit.MILLISECONDS);

        assertThat(waitMs).isBetween(49L, 151L);
    }
}
