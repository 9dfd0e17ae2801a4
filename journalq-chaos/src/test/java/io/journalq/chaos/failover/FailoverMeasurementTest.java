package io.journalq.chaos.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailoverMeasurementTest {
    private static final List<Integer> LED = List.of(1);

    private static long ms(long milliseconds) {
        return TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    @Test
    void shouldTellTheLongestGapWhenAcknowledgementsBeginAgain() {
        Gaps gaps = new Gaps(2);
        gaps.begin(0);

        // when partition 1 gets nothing for 1,500 ms
        gaps.onAcknowledged(1, ms(100));
        gaps.onAcknowledged(1, ms(1_600));
        gaps.onAcknowledged(1, ms(1_700));

        // then
        assertThat(gaps.longestMs(LED, ms(1_750))).isEqualTo(1_500);
        assertThat(gaps.areSettled(LED, ms(1_750), ms(100))).isTrue();
        assertThat(gaps.areSettled(LED, ms(1_750), ms(200))).isFalse();
        // and partition 0 has got nothing at all
        assertThat(gaps.longestMs(List.of(0, 1), ms(1_750))).isEqualTo(1_750);
        assertThat(gaps.areSettled(List.of(0, 1), ms(1_750), ms(100))).isFalse();
    }

    @Test
    void shouldMeasureNothingWhenThereAreNoPartitions() {
        Gaps gaps = new Gaps(2);

        assertThatThrownBy(() -> gaps.longestMs(List.of(), ms(1))).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void shouldKeepWhatBrokersHaveLoggedInASlowRound(@TempDir Path directory) throws Exception {
        // given
        Path log = Files.writeString(directory.resolve("broker1.log"), "before\n");
        SlowRounds rounds = new SlowRounds(directory.resolve("slow"));
        rounds.begin(List.of(log));
        Files.writeString(log, "since\n", StandardOpenOption.APPEND);
        rounds.note("freeze, 5000 ms");

        // when
        Path kept = rounds.keep("1-freeze");

        // then
        assertThat(kept).isEqualTo(directory.resolve("slow/1-freeze"));
        assertThat(kept.resolve("broker1.log")).hasContent("since");
        assertThat(kept.resolve("measured.txt")).hasContent("freeze, 5000 ms");
    }

    @Test
    @Tag("long")
    void shouldTellTheGapsOfBothClientsWhenALeaderIsKilledOrMoves(@TempDir Path directory) throws Exception {
        List<FailoverFault> faults = List.of(FailoverFault.KILL, FailoverFault.MOVE);
        FailoverPlan plan = new FailoverPlan(3, "eventual", 1, 500, 3, 30, faults, Map.of(), directory);

        Map<String, Map<String, List<Long>>> gaps = new FailoverMeasurement(plan, System.out).run();

        assertThat(gaps).containsOnlyKeys("kill", "kill-led", "kill-used", FailoverMeasurement.MOVE);
        // To another leader and back, and back to the broker that was killed.
        assertThat(gaps.get(FailoverMeasurement.MOVE).get("journalq")).hasSize(3);
        // The controller does not know before the process is dead. A record is sent when all have leaders.
        long led = gaps.get("kill-led").get("tool").get(0);
        assertThat(led).isGreaterThan(10);
        assertThat(gaps.get("kill-used").get("tool")).singleElement().satisfies(used -> assertThat(used)
                .isGreaterThanOrEqualTo(led));
        assertThat(gaps.get("kill"))
                .containsOnlyKeys("journalq", "kafka-clients")
                .allSatisfy((client, times) -> assertThat(times)
                        // The brokers notice at once that the connections of a process have ended, but not before it is
                        // dead.
                        .singleElement()
                        .satisfies(time -> assertThat(time).isGreaterThan(10)));
    }
}
