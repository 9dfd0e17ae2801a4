package io.journalq.sim;

import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.ProgramVersion;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs seeds until all are done, the time has passed, or a guarantee is broken. */
@Command(
        name = "journalq-sim",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        subcommands = MetadataCommand.class,
        description = "Runs brokers on simulated clocks, disks and networks, crashes them at any point, and checks what"
                + " they guarantee.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no guarantee was broken",
            "1:a guarantee was broken: the command that replays it is printed",
            "2:wrong usage"
        })
public final class SimMain implements Callable<Integer> {
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long WAIT_MS = 100;

    @Option(names = "--seed", description = "The first seed (default: a random one).")
    private Long seed;

    @Option(names = "--seeds", defaultValue = "1", description = "Number of seeds, from the first one on (default: 1).")
    private long seeds;

    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Stop after this time, such as 30m, even if seeds are left.")
    private Duration duration;

    @Option(
            names = "--brokers",
            defaultValue = "1",
            description = "Number of brokers: 1, or 3 to 7 for a cluster (default: 1).")
    private int brokers;

    @Option(names = "--twice", description = "Run each seed twice, and compare the hashes of all events.")
    private boolean twice;

    @Option(
            names = "--keep-going",
            description = "Continue after a broken guarantee, and count the seeds that break one.")
    private boolean keepGoing;

    @Option(
            names = "--parallel",
            defaultValue = "1",
            description = "Number of seeds that run at the same time, each on a thread of its own (default: 1).")
    private int parallel;

    @Spec
    private CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(commandLine().setUsageHelpAutoWidth(true).execute(arguments));
    }

    /** The command line with its options and help. */
    public static CommandLine commandLine() {
        return new CommandLine(new SimMain()).setParameterExceptionHandler(SimMain::explainUsage);
    }

    @Command(
            name = "completion",
            mixinStandardHelpOptions = true,
            versionProvider = ProgramVersion.class,
            description = "Prints a script that completes commands and options in bash and zsh.")
    int completion() {
        spec.commandLine().getOut().println(AutoComplete.bash(spec.name(), spec.commandLine()));
        return CommandLine.ExitCode.OK;
    }

    private static int explainUsage(ParameterException wrong, String... arguments) {
        String reason = wrong.getMessage().lines().findFirst().orElse("");
        wrong.getCommandLine().getErr().println("journalq-sim: " + reason + "; see 'journalq-sim --help'");
        return CommandLine.ExitCode.USAGE;
    }

    static void requirePositive(CommandSpec spec, String option, long value) {
        if (value < 1) {
            throw new ParameterException(spec.commandLine(), option + " must be 1 or more");
        }
    }

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        requirePositive(spec, "--seeds", seeds);
        requirePositive(spec, "--parallel", parallel);
        if (brokers != 1 && (brokers < ClusterSimulation.MIN_BROKERS || brokers > ClusterSimulation.MAX_BROKERS)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--brokers must be 1, or " + ClusterSimulation.MIN_BROKERS + " to "
                            + ClusterSimulation.MAX_BROKERS);
        }
        long first = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        long startNanos = System.nanoTime();
        long limitNanos = duration == null ? Long.MAX_VALUE : duration.toNanos();
        System.out.printf(Locale.ROOT, "seed %d, %d seeds%n", first, seeds);
        SeedRun run = new SeedRun(new SeedRun.Plan(first, seeds, twice, keepGoing), this::simulate, this::explain);
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

    /** Waits for the end of the run, but only for a short time. */
    private static boolean isDone(CompletableFuture<Void> run) throws InterruptedException, ExecutionException {
        try {
            run.get(WAIT_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
    }

    private SimResult simulate(long next) {
        SimResult result = brokers == 1 ? Simulation.run(next) : ClusterSimulation.run(brokers, next);
        if (seeds == 1) {
            System.out.printf(Locale.ROOT, "seed %d: %d events, hash %016x%n", next, result.events(), result.hash());
        }
        return result;
    }

    private void explain(SimResult result) {
        result.violations().forEach(violation -> System.out.println("VIOLATION " + violation));
        System.out.println("replay with: " + replay(brokers, twice, result.seed()));
    }

    /** The command that runs a seed again, in the same way. */
    static String replay(int brokers, boolean twice, long seed) {
        return "bin/journalq-sim " + (brokers == 1 ? "" : "--brokers " + brokers + " ") + (twice ? "--twice " : "")
                + "--seed " + seed;
    }

    private static void report(SeedRun.Tally tally, long tookNanos) {
        System.out.printf(
                Locale.ROOT,
                "%d seeds, %d crashes, %d records, %d seeds with violations; %.0f seeds per minute%n",
                tally.seeds(),
                tally.crashes(),
                tally.records(),
                tally.broken(),
                (double) tally.seeds() * TimeUnit.MINUTES.toNanos(1) / Math.max(1, tookNanos));
    }
}
