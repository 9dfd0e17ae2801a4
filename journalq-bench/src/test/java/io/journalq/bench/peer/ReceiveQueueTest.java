package io.journalq.bench.peer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReceiveQueueTest {
    private static final Duration WAIT = Duration.ofSeconds(30);

    private final ReceiveQueue arrivals = new ReceiveQueue();

    @Test
    void shouldShowWhatWasAddedInItsOrderWhenItIsMoreThanFits() throws InterruptedException {
        // given more than there is room for
        int count = 25_000;
        Thread library = new Thread(() -> {
            for (int i = 0; i < count; i++) {
                arrivals.add(Integer.toString(i).getBytes(US_ASCII));
            }
        });
        library.start();

        // when
        List<String> seen = new ArrayList<>();
        while (seen.size() < count) {
            int before = seen.size();
            int told = arrivals.poll(WAIT, value -> seen.add(new String(value, US_ASCII)));
            assertThat(told).isEqualTo(seen.size() - before).isPositive();
        }
        library.join();

        // then
        for (int i = 0; i < count; i++) {
            assertThat(seen.get(i)).isEqualTo(Integer.toString(i));
        }
        assertThat(arrivals.poll(Duration.ZERO, value -> {})).isZero();
    }

    @Test
    void shouldLetTheLibraryGoWhenNobodyPollsAnyMore() throws InterruptedException {
        Thread library = new Thread(() -> {
            for (int i = 0; i < 25_000; i++) {
                arrivals.add(new byte[0]);
            }
        });
        library.start();

        arrivals.end();

        library.join();
        assertThat(library.isAlive()).isFalse();
    }
}
