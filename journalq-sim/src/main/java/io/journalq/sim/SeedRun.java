package io.journalq.sim;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Runs a range of seeds on any number of threads. Each seed runs on one thread from its beginning to its end.
 * Thread-safe.
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
     * The results so far.
     *
     * @param seeds number of seeds that were run
     * @param crashes number of crashes in these
     * @param records number of records that were acknowledged or read
     * @param broken number of seeds with a violation
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
     * @param first the first seed
     * @param count the number of seeds
     * @param twice whether to run each seed twice, and report a violation if the two runs differ
     * @param keepGoing whether to continue after a violation
     */
    record Plan(long first, long count, boolean twice, boolean keepGoing) {}

    /**
     * Prepares a run.
     *
     * @param simulation runs one seed; called by several threads at a time
     * @param onBroken takes each result with a violation; called by one thread at a time
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
     * Starts {@code threads} threads.
     *
     * @return completes when all seeds are done, or after {@link #stop} when the running seeds are done. Fails if a
     *     simulation does; the message of the cause names the seed.
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

    /** Stops the run: no further seed begins. */
    synchronized void stop() {
        stopped = true;
    }

    synchronized Tally tally() {
        return tally;
    }

    private void work() {
        for (Long seed = take(); seed != null; seed = take()) {
            onDone(simulate(seed));
        }
    }

    private SimResult simulate(long seed) {
        try {
            SimResult result = simulation.apply(seed);
            return twice ? result.comparedWith(simulation.apply(seed)) : result;
        } catch (RuntimeException | Error failure) {
            // Otherwise, nobody would know the seed, because other threads have begun later ones.
            throw new IllegalStateException("the simulation of seed " + seed + " failed: " + failure, failure);
        }
    }

    /** The next seed; null if there is none left. */
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
