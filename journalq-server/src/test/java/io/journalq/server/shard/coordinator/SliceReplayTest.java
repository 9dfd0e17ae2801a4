package io.journalq.server.shard.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.shard.coordinator.SliceReplay.Extent;
import io.journalq.server.store.CoordinatorSlice;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which stored slices a journal continues. */
final class SliceReplayTest {
    /** Offsets 0 to 9 in epoch 1, and 10 to 19 in epoch 3. */
    private static final LeaderEpochs.Entries EPOCHS = new LeaderEpochs.Entries(new int[] {1, 3}, new long[] {0, 10});

    private static long replay(long appliedOffset, int appliedEpoch, long startOffset, long compactedOffset)
            throws IOException {
        return SliceReplay.replay(
                new Stored(appliedOffset, appliedEpoch),
                new Extent(startOffset, compactedOffset, 20, EPOCHS),
                RecordTypes.of(),
                null);
    }

    @Test
    void shouldContinueBehindTheStoredRecordsWhenTheJournalHasThem() throws IOException {
        assertThat(replay(10, 1, 0, 10)).isEqualTo(10);
        assertThat(replay(20, 3, 0, 0)).isEqualTo(20);
        assertThat(replay(11, CoordinatorSlice.UNKNOWN_EPOCH, 0, 0)).isEqualTo(11);
        assertThat(replay(CoordinatorSlice.NOTHING, CoordinatorSlice.UNKNOWN_EPOCH, 5, 9))
                .isEqualTo(CoordinatorSlice.NOTHING);
    }

    @Test
    void shouldRefuseStoredRecordsWhenTheJournalWasCut() {
        assertThatThrownBy(() -> replay(21, 3, 0, 0)).hasMessageContaining("the journal ends at 20");
        // Cut and written again by another leader.
        assertThatThrownBy(() -> replay(12, 2, 0, 0)).hasMessageContaining("leader epoch 3 there instead of 2");
    }

    @Test
    void shouldRefuseStoredRecordsWhenTombstonesMayBeGone() {
        assertThatThrownBy(() -> replay(12, 3, 0, 13)).hasMessageContaining("compacted up to 13");
        assertThatThrownBy(() -> replay(12, 3, 14, 0)).hasMessageContaining("compacted up to 14");
    }

    private record Stored(long appliedOffset, int appliedEpoch) implements CoordinatorSlice {
        @Override
        public void forEach(Visitor visitor) {
            // Without records.
        }

        @Override
        public void apply(List<Change> changes, long nextOffset, int epoch) {
            throw new AssertionError("only read");
        }

        @Override
        public void wipe() {
            throw new AssertionError("only read");
        }
    }
}
