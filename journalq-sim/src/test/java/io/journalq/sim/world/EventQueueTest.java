package io.journalq.sim.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EventQueueTest {
    private record Event(long atNanos, long number) {}

    @Test
    void shouldReturnEventsInTheOrderOfTheirTimesAndNumbers() {
        Random random = new Random(1);
        EventQueue queue = new EventQueue();
        PriorityQueue<Event> expected =
                new PriorityQueue<>(Comparator.comparingLong(Event::atNanos).thenComparingLong(Event::number));
        List<Event> run = new ArrayList<>();
        for (long number = 0; number < 20_000; number++) {
            // given more additions first, then more removals
            if (random.nextInt(20_000) > number) {
                Event event = new Event(random.nextInt(100), number);
                expected.add(event);
                queue.add(event.atNanos(), number, () -> run.add(event));
            } else if (!expected.isEmpty()) {
                Event next = expected.poll();
                assertThat(queue.atNanos()).isEqualTo(next.atNanos());
                assertThat(queue.number()).isEqualTo(next.number());

                // when
                queue.poll().run();

                // then
                assertThat(run.get(run.size() - 1)).isEqualTo(next);
            }
            assertThat(queue.isEmpty()).isEqualTo(expected.isEmpty());
        }
        assertThat(run).hasSizeGreaterThan(5_000);
    }

    @Test
    void shouldHaveNoEventWhenItIsCleared() {
        EventQueue queue = new EventQueue();
        queue.add(5, 1, () -> {});
        queue.clear();

        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.atNanos()).isEqualTo(EventQueue.NEVER);
    }
}
