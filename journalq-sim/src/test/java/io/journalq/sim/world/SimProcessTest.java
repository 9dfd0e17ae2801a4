package io.journalq.sim.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SimProcessTest {
    private final Scheduler scheduler = new Scheduler(new Random(1));
    private final SimProcess process = scheduler.newProcess(new SimClock(scheduler));
    private final List<String> steps = new ArrayList<>();
    private final CompletableFuture<Void> awaited = new CompletableFuture<>();

    private void waitLikeAThread() {
        process.after(Scheduler.Kind.POOL, 0, () -> {
            steps.add("waits");
            process.join(awaited);
            steps.add("goes on");
        });
    }

    private void runFor(long nanos) {
        boolean[] over = new boolean[1];
        scheduler.after(nanos, () -> over[0] = true);
        scheduler.runUntil(() -> over[0]);
    }

    @Test
    void shouldGoOnWhenWhatAThreadWaitsForIsComplete() {
        waitLikeAThread();
        scheduler.after(10, () -> {
            assertThat(process.isWaiting()).isTrue();
            awaited.complete(null);
        });

        runFor(1_000);

        assertThat(steps).containsExactly("waits", "goes on");
        assertThat(process.isWaiting()).isFalse();
    }

    @Test // seed 600219 of 3 brokers
    void shouldNotGoOnInADeadProcessAlthoughWhatAThreadWaitsForIsComplete() {
        waitLikeAThread();
        scheduler.after(10, () -> {
            awaited.complete(null);
            process.stop();
        });

        runFor(1_000);

        assertThat(steps).containsExactly("waits");
    }
}
