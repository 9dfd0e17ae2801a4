package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TimetableTest {
    private final Timetable times = new Timetable(1_000);

    @Test
    void shouldLetOneMessageBeDueEachMillisecond() {
        assertThat(times.dueNs(1) - times.dueNs(0)).isEqualTo(1_000_000);
        assertThat(times.dueNs(5_000) - times.dueNs(0)).isEqualTo(5_000_000_000L);
    }

    @Test
    void shouldCountTheMessagesThatAreDue() {
        long startNs = times.dueNs(0);

        assertThat(times.dueBy(startNs)).isEqualTo(1);
        assertThat(times.dueBy(startNs + 999_999)).isEqualTo(1);
        assertThat(times.dueBy(startNs + 1_000_000)).isEqualTo(2);
        assertThat(times.dueBy(startNs + 7_500_000)).isEqualTo(8);
    }
}
