package io.journalq.sim.world;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.disk.SimDisk;
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
        process.begin(0, () -> {
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
            assertThat(steps).containsExactly("waits");
            awaited.complete(null);
        });

        runFor(1_000);

        assertThat(steps).containsExactly("waits", "goes on");
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

    @Test // seed 1911712 of 3 brokers
    void shouldGoOnWhileAThreadThatWaitsLaterStillWaits() {
        SimProcess other = scheduler.newProcess(new SimClock(scheduler));
        waitLikeAThread();
        other.begin(10, () -> {
            steps.add("waits as well");
            other.join(new CompletableFuture<>());
        });
        scheduler.after(20, () -> awaited.complete(null));

        runFor(1_000);

        assertThat(steps).containsExactly("waits", "waits as well", "goes on");
    }

    @Test
    void shouldGoOnOnlyWhenTheProcessIsNotFrozenAnyMore() {
        waitLikeAThread();
        scheduler.after(10, () -> {
            process.freeze(500);
            awaited.complete(null);
        });
        scheduler.after(400, () -> steps.add("is frozen"));

        runFor(1_000);

        assertThat(steps).containsExactly("waits", "is frozen", "goes on");
    }

    @Test
    void shouldEndAThreadWhoseProcessCrashesWhileItWaits() {
        process.begin(0, () -> {
            try {
                process.join(awaited);
            } catch (SimDisk.Crash gone) {
                steps.add("ends");
                throw gone;
            }
        });
        scheduler.after(10, process::stop);

        runFor(1_000);

        assertThat(steps).containsExactly("ends");
    }
}
