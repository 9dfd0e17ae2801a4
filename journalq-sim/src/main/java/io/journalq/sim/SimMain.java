package io.journalq.sim;

import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs seeds until they are done, the time is up, or a promise is broken. */
@Command(
        name = "journalq-sim",
        mixinStandardHelpOptions = true,
        description = "Runs a whole broker on simulated time and disks, crashes it at any point, and checks what it"
                + " promised.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every promise was kept", "1:a promise was broken; the command that replays it is printed"})
public final class SimMain implements Callable<Integer> {
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long WAIT_MS = 100;

    @Option(names = "--seed", description = "The first seed; a random one when it is not given.")
    private Long seed;

    @Option(names = "--seeds", defaultValue = "1", description = "How many seeds, from the first one on (default: 1).")
    private long seeds;

    @Option(names = "--minutes", description = "Stop after so many minutes, whatever is left.")
    private Double minutes;

    @Option(names = "--twice", description = "Run every seed twice and compare the hashes of what happened.")
    private boolean twice;

    @Option(names = "--keep-going", description = "Go on after a broken promise, and count.")
    private boolean keepGoing;

    @Option(
            names = "--parallel",
            defaultValue = "1",
            description = "How many seeds run at a time, each in a thread of its own (default: 1).")
    private int parallel;

    @Spec
    private CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** The program as it is typed: its options and help. */
    public static CommandLine commandLine() {
        return new CommandLine(new SimMain());
    }

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        if (parallel < 1) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--parallel must be at least 1");
        }
        long first = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        long startNanos = System.nanoTime();
        long limitNanos = minutes == null ? Long.MAX_VALUE : (long) (minutes * TimeUnit.MINUTES.toNanos(1));
        System.out.printf(Locale.ROOT, "seed %d, %d seeds%n", first, seeds);
        SeedRun run = new SeedRun(new SeedRun.Plan(first, seeds, twice, keepGoing), this::simulate, SimMain::explain);
        CompletableFuture<Void> done = run.start(parallel);
        long progressNanos = startNanos;
        while (!isDone(done)) {
            long now = System.nanoTime();
            if (now - startNanos > limitNanos) {
                run.stop();
            }
            if (now - progressNanos > PROGRESS_NANOS) {
                progressNanos = now;
                report(run.tally(), now - startNanos);
            }
        }
        report(run.tally(), System.nanoTime() - startNanos);
        return run.tally().broken() == 0 ? 0 : 1;
    }

    /** Waits for it, but not for long. */
    private static boolean isDone(CompletableFuture<Void> run) throws InterruptedException, ExecutionException {
        try {
            run.get(WAIT_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
    }

    private SimResult simulate(long next) {
        SimResult result = Simulation.run(next);
        if (seeds == 1) {
            System.out.printf(Locale.ROOT, "seed %d: %d events, hash %016x%n", next, result.events(), result.hash());
        }
        return result;
    }

    private static void explain(SimResult result) {
        result.violations().forEach(words -> System.out.println("VIOLATION " + words));
        System.out.printf(Locale.ROOT, "replay with: bin/journalq-sim --seed %d%n", result.seed());
    }

    private static void report(SeedRun.Tally tally, long tookNanos) {
        System.out.printf(
                Locale.ROOT,
                "%d seeds, %d crashes, %d records, %d seeds with violations; %.0f seeds a minute%n",
                tally.seeds(),
                tally.crashes(),
                tally.records(),
                tally.broken(),
                (double) tally.seeds() * TimeUnit.MINUTES.toNanos(1) / Math.max(1, tookNanos));
    }
}
