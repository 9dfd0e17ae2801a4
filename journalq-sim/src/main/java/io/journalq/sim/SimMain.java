package io.journalq.sim;

import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs seeds until they are done, the time is up, or a promise is broken. */
@Command(
        name = "journalq-sim",
        mixinStandardHelpOptions = true,
        description =
                "Runs a whole broker on simulated time and disks, crashes it at any point, and checks what it promised.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every promise was kept", "1:a promise was broken; the command that replays it is printed"})
public final class SimMain implements Callable<Integer> {
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);

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

    private long done;
    private long crashes;
    private long records;
    private long broken;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** The program as it is typed: its options and help. */
    public static CommandLine commandLine() {
        return new CommandLine(new SimMain());
    }

    @Override
    public Integer call() {
        long first = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        long startNanos = System.nanoTime();
        long limitNanos = minutes == null ? Long.MAX_VALUE : (long) (minutes * TimeUnit.MINUTES.toNanos(1));
        long progressNanos = startNanos;
        System.out.printf(Locale.ROOT, "seed %d, %d seeds%n", first, seeds);
        for (long next = first; next < first + seeds; next++) {
            if (!run(next) && !keepGoing) {
                break;
            }
            long now = System.nanoTime();
            if (now - startNanos > limitNanos) {
                break;
            }
            if (now - progressNanos > PROGRESS_NANOS) {
                progressNanos = now;
                report();
            }
        }
        report();
        return broken == 0 ? 0 : 1;
    }

    private boolean run(long next) {
        SimResult result = Simulation.run(next);
        done++;
        crashes += result.crashes();
        records += result.records();
        boolean sound = result.isSound();
        if (twice && Simulation.run(next).hash() != result.hash()) {
            System.out.printf(Locale.ROOT, "seed %d: two runs differ%n", next);
            sound = false;
        }
        if (seeds == 1) {
            System.out.printf(Locale.ROOT, "seed %d: %d events, hash %016x%n", next, result.events(), result.hash());
        }
        if (!sound) {
            broken++;
            result.violations().forEach(words -> System.out.println("VIOLATION " + words));
            System.out.printf(Locale.ROOT, "replay with: bin/journalq-sim --seed %d%n", next);
        }
        return sound;
    }

    private void report() {
        System.out.printf(
                Locale.ROOT,
                "%d seeds, %d crashes, %d records, %d seeds with violations%n",
                done,
                crashes,
                records,
                broken);
    }
}
