package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;

class SilentVotersTest {
    private static final RaftPeerId SECOND = RaftPeerId.valueOf("2-directory");
    private static final RaftPeerId THIRD = RaftPeerId.valueOf("3-directory");
    private static final long BEGIN_NANOS = Long.MAX_VALUE - 5;

    private final SilentVoters voters = new SilentVoters();

    @Test
    void shouldLogEachVoterOnceAMinute() {
        assertThat(voters.isDue(SECOND, BEGIN_NANOS)).isTrue();
        assertThat(voters.isDue(SECOND, BEGIN_NANOS + TimeUnit.SECONDS.toNanos(59)))
                .isFalse();
        assertThat(voters.isDue(THIRD, BEGIN_NANOS + TimeUnit.SECONDS.toNanos(59)))
                .isTrue();
        assertThat(voters.isDue(SECOND, BEGIN_NANOS + TimeUnit.SECONDS.toNanos(60)))
                .isTrue();
        assertThat(voters.isDue(SECOND, BEGIN_NANOS + TimeUnit.SECONDS.toNanos(61)))
                .isFalse();
    }
}
