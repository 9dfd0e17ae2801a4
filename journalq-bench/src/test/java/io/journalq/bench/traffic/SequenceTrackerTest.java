package io.journalq.bench.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SequenceTrackerTest {
    private final SequenceTracker tracker = new SequenceTracker();

    @Test
    void shouldCountEachOnceWhenAllComeInAnyOrder() {
        List<Long> sequences = new ArrayList<>();
        for (long sequence = 0; sequence < 100_000; sequence++) {
            sequences.add(sequence);
        }
        Collections.shuffle(sequences, new Random(7));

        sequences.forEach(sequence -> assertThat(tracker.add(sequence)).isTrue());

        assertThat(tracker.distinct()).isEqualTo(100_000);
        assertThat(tracker.highest()).isEqualTo(99_999);
        sequences.forEach(sequence -> assertThat(tracker.add(sequence)).isFalse());
        assertThat(tracker.distinct()).isEqualTo(100_000);
    }

    @Test
    void shouldTellRepetitionsFromNewOnesWhenSomeAreMissing() {
        for (long sequence = 0; sequence < 10_000; sequence++) {
            if (sequence % 10 != 3) {
                assertThat(tracker.add(sequence)).isTrue();
            }
        }

        assertThat(tracker.highest() + 1 - tracker.distinct()).isEqualTo(1_000);
        assertThat(tracker.add(3)).isTrue();
        assertThat(tracker.add(3)).isFalse();
        assertThat(tracker.add(4)).isFalse();
    }

    @Test
    void shouldGiveUpTheOldestWhenMoreThanTheWindowIsOutOfOrder() {
        tracker.add(1);

        assertThat(tracker.add(1 + 3 * SequenceTracker.MAX_WINDOW)).isTrue();

        assertThat(tracker.add(0)).isFalse();
        assertThat(tracker.add(3 * SequenceTracker.MAX_WINDOW)).isTrue();
        assertThat(tracker.distinct()).isEqualTo(3);
    }

    @Test
    void shouldKeepWhatIsInTheWindowWhenItSlides() {
        long far = SequenceTracker.MAX_WINDOW + 1000;
        tracker.add(0);
        tracker.add(far - 500);

        assertThat(tracker.add(far)).isTrue();

        assertThat(tracker.add(far - 500)).isFalse();
        assertThat(tracker.add(0)).isFalse();
    }
}
