package io.journalq.server.shard.flush;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FlushScheduleTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(50);

    /** Close to the overflow of the clock. */
    private static final long START = Long.MAX_VALUE - 3 * SECOND;

    private final FlushSchedule<Integer> schedule = new FlushSchedule<>();

    @Test
    void shouldSpreadFlushesOverTheIntervalWhenAllPartitionsWereWrittenTogether() {
        // given 200 partitions that are written continuously
        long now = START;
        Map<Integer, Long> since = new TreeMap<>();
        for (int partition = 0; partition < 200; partition++) {
            schedule.add(partition, SECOND, now);
            since.put(partition, now);
        }
        // when partitions are taken 20 times a second
        int flushes = 0;
        for (int look = 0; look < 200; look++) {
            now += LOOK;
            var taken = schedule.take(now);
            // then each call returns its share, no partition is late, and all are returned
            assertThat(taken).hasSizeBetween(9, 11);
            for (int partition : taken) {
                assertThat(now - since.get(partition)).isLessThanOrEqualTo(SECOND + LOOK);
                schedule.add(partition, SECOND, now);
                since.put(partition, now);
            }
            flushes += taken.size();
        }
        assertThat(flushes).isBetween(1_990, 2_010);
        long end = now;
        assertThat(since.values()).allSatisfy(time -> assertThat(end - time).isLessThanOrEqualTo(SECOND + LOOK));
    }

    @Test
    void shouldWaitForTheWholeIntervalWhenAPartitionIsAlone() {
        schedule.add(1, SECOND, START);

        assertThat(schedule.add(1, SECOND, START + LOOK)).isFalse();
        assertThat(schedule.take(START + SECOND - LOOK)).isEmpty();
        assertThat(schedule.take(START + SECOND)).containsExactly(1);
        assertThat(schedule.isEmpty()).isTrue();
        assertThat(schedule.take(START + 2 * SECOND)).isEmpty();
    }

    @Test
    void shouldForgetAPartitionThatLeaves() {
        schedule.add(1, SECOND, START);
        schedule.add(2, SECOND, START);

        schedule.remove(1);
        schedule.remove(1);

        assertThat(schedule.take(START + SECOND)).containsExactly(2);
    }

    @Test
    void shouldNeverBeLateWhateverIntervalsAndWritesThereAre() {
        Random random = new Random(7);
        Map<Integer, Long> due = new TreeMap<>();
        long now = START;
        for (int step = 0; step < 20_000; step++) {
            now += random.nextInt(20_000_000);
            int partition = random.nextInt(50);
            long interval = SECOND / (1 + partition);
            if (schedule.add(partition, interval, now)) {
                due.put(partition, now + interval);
            }
            if (random.nextInt(10) == 0) {
                schedule.remove(partition);
                due.remove(partition);
            }
            schedule.take(now).forEach(due::remove);
            long looked = now;
            assertThat(due.values())
                    .allSatisfy(time -> assertThat(time - looked).isPositive());
        }
    }
}
