package io.journalq.sim.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SimNetworkTest {
    private static final int MESSAGES = 50;

    private final Random random = new Random(1);
    private final Scheduler scheduler = new Scheduler(random);
    private final SimNetwork network = new SimNetwork(scheduler, random);
    private final SimProcess server = scheduler.newProcess(new SimClock(scheduler));
    private final List<Integer> arrived = new ArrayList<>();
    private int resets;

    private SimNetwork.Connection connect() {
        return network.connect(1, 2, server, () -> resets++);
    }

    private void runFor(long ms) {
        boolean[] over = new boolean[1];
        scheduler.after(TimeUnit.MILLISECONDS.toNanos(ms), () -> over[0] = true);
        scheduler.runUntil(() -> over[0]);
    }

    @Test
    void shouldKeepTheOrderOfAConnectionAndNotThatOfSeveral() {
        SimNetwork.Connection one = connect();
        for (int i = 0; i < MESSAGES; i++) {
            int number = i;
            one.send(() -> arrived.add(number));
        }
        runFor(1_000);
        assertThat(arrived)
                .containsExactlyElementsOf(IntStream.range(0, MESSAGES).boxed().toList());

        arrived.clear();
        for (int i = 0; i < MESSAGES; i++) {
            int number = i;
            connect().send(() -> arrived.add(number));
        }
        runFor(1_000);
        assertThat(arrived)
                .hasSize(MESSAGES)
                .isNotEqualTo(arrived.stream().sorted().toList());
    }

    @Test
    void shouldHoldMessagesBackInOneDirectionWhenThisIsCut() {
        SimNetwork.Connection connection = connect();
        network.cut(1, 2);
        connection.send(() -> arrived.add(1));
        connection.respond(() -> arrived.add(2));

        runFor(1_000);
        assertThat(arrived).containsExactly(2);

        network.heal();
        runFor(1_000);
        assertThat(arrived).containsExactly(2, 1);
    }

    @Test
    void shouldTellTheClientWhenTheServerEnds() {
        SimNetwork.Connection connection = connect();
        connection.send(() -> arrived.add(1));

        network.resetAll(server);
        runFor(1_000);

        assertThat(arrived).isEmpty();
        assertThat(resets).isEqualTo(1);
        assertThat(connection.isOpen()).isFalse();
    }

    @Test
    void shouldTakeLongerWhenALinkIsSlow() {
        network.slow(1, 2, 500);
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            connect().send(() -> times.add(scheduler.nowMs()));
        }

        runFor(1_000);

        assertThat(times).hasSize(MESSAGES).anyMatch(timeMs -> timeMs > 100);
    }
}
