package io.journalq.sim;

import io.journalq.common.commandline.ProgramVersion;
import io.journalq.sim.metadata.MetadataPlan;
import io.journalq.sim.metadata.MetadataResult;
import io.journalq.sim.metadata.MetadataResult.SnapshotCost;
import io.journalq.sim.metadata.MetadataResult.Spread;
import io.journalq.sim.metadata.MetadataSimulation;
import io.journalq.sim.metadata.StepCost;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Simulates the metadata of a large cluster, and prints what they cost. */
@Command(
        name = "metadata",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        description = {
            "Simulates the metadata of a large cluster, and prints what they cost.",
            "",
            "Registers brokers in racks, and creates topics whose partitions have three replicas. A broker, a rack, and"
                    + " the controller with two others crash and return. Partitions get their preferred leaders back. At"
                    + " the end, one broker is drained and removed. Three brokers vote on the metadata log.",
            "",
            "The controllers, records, elections, the placement and the images are those of the broker. The metadata"
                    + " log commits at once, and replicas are in sync at once. The seed determines everything except the"
                    + " times, bytes and heap that are printed."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no promise was broken",
            "1:a promise was broken: the command that replays it is printed",
            "2:wrong usage"
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq-sim metadata", "  journalq-sim metadata --brokers 20 --racks 5 --partitions 2000 --seed 7"
        })
final class MetadataCommand implements Callable<Integer> {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_KIB = 1 << 10;
    private static final double BYTES_PER_MIB = 1 << 20;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--brokers",
            paramLabel = "COUNT",
            defaultValue = "100",
            description = "Number of brokers, a multiple of --racks (default: 100).")
    private int brokers;

    @Option(
            names = "--racks",
            paramLabel = "COUNT",
            defaultValue = "10",
            description = "Number of racks, from 4 on (default: 10).")
    private int racks;

    @Option(
            names = "--partitions",
            paramLabel = "COUNT",
            defaultValue = "100000",
            description = "Number of partitions of all topics together (default: 100000).")
    private int partitions;

    @Option(
            names = "--observers",
            paramLabel = "COUNT",
            defaultValue = "7",
            description = "Number of brokers besides the voters that replay the metadata log, each on its own. The"
                    + " others are taken to have applied it (default: 7).")
    private int observers;

    @Option(names = "--seed", description = "The seed (default: a random one).")
    private Long seed;

    @Override
    public Integer call() throws IOException {
        SimMain.requirePositive(spec, "--partitions", partitions);
        require(racks > MetadataPlan.REPLICATION_FACTOR, "--racks must be 4 or more");
        require(brokers >= 2 * racks && brokers % racks == 0, "--brokers must be a multiple of --racks, and not equal");
        require(
                observers >= 0 && observers <= brokers - MetadataPlan.VOTERS,
                "--observers must be 0 or more, and at most --brokers without the three voters");
        long used = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        MetadataPlan plan = new MetadataPlan(brokers, racks, partitions, observers, used);
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, "seed %d: %d brokers in %d racks, %,d partitions%n", used, brokers, racks, partitions);
        MetadataResult result = run(plan);
        print(out, result);
        result.violations().forEach(violation -> out.println("VIOLATION " + violation));
        if (!result.violations().isEmpty()) {
            out.println("replay with: " + replay(plan));
        }
        out.flush();
        return result.violations().isEmpty() ? 0 : 1;
    }

    private void require(boolean holds, String problem) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), problem);
        }
    }

    /** Runs one simulation. */
    static MetadataResult run(MetadataPlan plan) throws IOException {
        return MetadataSimulation.run(plan, new Random(plan.seed()), new ProcessMeter());
    }

    /** The command that runs a simulation again. */
    static String replay(MetadataPlan plan) {
        return String.format(
                Locale.ROOT,
                "bin/journalq-sim metadata --brokers %d --racks %d --partitions %d --observers %d --seed %d",
                plan.brokers(),
                plan.racks(),
                plan.partitions(),
                plan.observers(),
                plan.seed());
    }

    private static void print(PrintWriter out, MetadataResult result) {
        out.println("                                                      largest  controller  longest  allocated"
                + "  broker");
        out.println("step                              changes  batches     KiB     KiB        ms       ms        MiB"
                + "      ms");
        for (StepCost step : result.steps()) {
            out.printf(
                    Locale.ROOT,
                    "%-32s %8d %8d %7.0f %7.0f %9.1f %8.1f %10.1f %7.1f%n",
                    step.name(),
                    step.changes(),
                    step.batches(),
                    step.logBytes() / BYTES_PER_KIB,
                    step.largestBatchBytes() / BYTES_PER_KIB,
                    step.controllerNanos() / NANOS_PER_MILLI,
                    step.longestNanos() / NANOS_PER_MILLI,
                    step.allocatedBytes() / BYTES_PER_MIB,
                    step.observerNanos() / NANOS_PER_MILLI);
        }
        SnapshotCost snapshot = result.snapshot();
        out.printf(
                Locale.ROOT,
                "snapshot: %.1f MiB, written in %.0f ms, restored in %.0f ms; heap of its image: %.1f MiB%n",
                snapshot.bytes() / BYTES_PER_MIB,
                snapshot.writeNanos() / NANOS_PER_MILLI,
                snapshot.restoreNanos() / NANOS_PER_MILLI,
                snapshot.imageBytes() / BYTES_PER_MIB);
        for (Spread spread : result.spreads()) {
            out.printf(
                    Locale.ROOT,
                    "after '%s': %d to %d replicas and %d to %d leaders on each live broker%n",
                    spread.step(),
                    spread.fewestReplicas(),
                    spread.mostReplicas(),
                    spread.fewestLeaders(),
                    spread.mostLeaders());
        }
        out.printf(Locale.ROOT, "%d topics, hash %016x%n", result.topics(), result.hash());
    }
}
