package io.journalq.server.replication;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DivergenceTest {
    /** Epoch 1 ends at 10, epoch 3 at 20. */
    private static final Divergence.EpochEnds OWN = epoch -> epoch < 1 ? -1 : epoch < 3 ? 10 : 20;

    @Test
    void shouldCutToTheLeadersEndWhenTheLastEpochIsTheSame() {
        assertThat(Divergence.cutOffset(3, 15, OWN, 0)).isEqualTo(15);
    }

    @Test
    void shouldCutToTheOwnEndOfTheEpochWhenTheLeaderHasMoreOfIt() {
        assertThat(Divergence.cutOffset(1, 15, OWN, 0)).isEqualTo(10);
    }

    @Test
    void shouldCutToTheEndOfTheLastCommonEpochWhenTheLeaderHasAnEpochThatIsMissingHere() {
        assertThat(Divergence.cutOffset(2, 12, OWN, 0)).isEqualTo(10);
    }

    @Test
    void shouldCutEverythingWhenNoEpochIsCommon() {
        assertThat(Divergence.cutOffset(0, 4, OWN, 2)).isEqualTo(2);
        assertThat(Divergence.cutOffset(-1, -1, OWN, 2)).isEqualTo(2);
        assertThat(Divergence.cutOffset(1, 1, OWN, 2)).isEqualTo(2);
    }
}
