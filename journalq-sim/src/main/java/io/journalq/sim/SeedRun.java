package io.journalq.sim;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Runs seeds one after the other, on any number of threads: a seed runs in one of them, from its beginning to its end. Safe
 * for all of these threads.
 */
final class SeedRun {
    private final LongFunction<SimResult> simulation;
    private final Consumer<SimResult> onBroken;
    private final boolean twice;
    private final boolean keepGoing;
    private long next;
    private final long end;
    private boolean stopped;
    private Tally tally = new Tally(0, 0, 0, 0);

    /**
     * What the seeds came to so far.
     *
     * @param seeds that were run
     * @param broken how many of them broke a promise
     */
    record Tally(long seeds, long crashes, long records, long broken) {
        Tally plus(SimResult result, boolean sound) {
            return new Tally(
                    seeds + 1, crashes + result.crashes(), records + result.records(), broken + (sound ? 0 : 1));
        }
    }

    /**
     * Which seeds to run, and how.
     *
     * @param twice whether each runs twice, and is broken when the two differ
     * @param keepGoing whether to go on after one that broke a promise
     */
    record Plan(long first, long count, boolean twice, boolean keepGoing) {}

    /**
     * Prepares a run.
     *
     * @param simulation runs one seed; called by several threads at a time
     * @param onBroken takes each result with a broken promise; by one thread at a time
     */
    SeedRun(Plan plan, LongFunction<SimResult> simulation, Consumer<SimResult> onBroken) {
        this.next = plan.first();
        this.end = plan.first() + plan.count();
        this.twice = plan.twice();
        this.keepGoing = plan.keepGoing();
        this.simulation = simulation;
        this.onBroken = onBroken;
    }

    /**
     * Starts so many threads.
     *
     * @return complete when all seeds are done, or those that were under way when {@link #stop} was called; failed with what
     *     a simulation threw, at the latest then
     */
    CompletableFuture<Void> start(int threads) {
        CompletableFuture<?>[] all = new CompletableFuture<?>[threads];
        for (int i = 0; i < threads; i++) {
            String name = "seeds-" + i;
            all[i] = CompletableFuture.runAsync(this::work, task -> new Thread(task, name).start())
                    .whenComplete((done, failure) -> stop());
        }
        return CompletableFuture.allOf(all);
    }

    /** No further seed is begun. */
    synchronized void stop() {
        stopped = true;
    }

    synchronized Tally tally() {
        return tally;
    }

    private void work() {
        for (Long seed = take(); seed != null; seed = take()) {
            SimResult result = simulation.apply(seed);
            if (twice) {
                result = result.against(simulation.apply(seed));
            }
            onDone(result);
        }
    }

    /** Null when there is none left. */
    private synchronized Long take() {
        return stopped || next >= end ? null : next++;
    }

    private synchronized void onDone(SimResult result) {
        tally = tally.plus(result, result.isSound());
        if (!result.isSound()) {
            stopped |= !keepGoing;
            onBroken.accept(result);
        }
    }
}
