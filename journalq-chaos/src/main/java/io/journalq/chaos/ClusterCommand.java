package io.journalq.chaos;

import io.journalq.chaos.cluster.ClusterFault;
import io.journalq.chaos.cluster.ClusterPlan;
import io.journalq.chaos.cluster.ClusterReport;
import io.journalq.chaos.cluster.ClusterRun;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.ProgramVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Injects faults into a cluster of broker processes, and reads back every replica. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        description = {
            "Injects faults into a cluster of brokers under load, and reads back every replica.",
            "",
            "Each cycle has a topic of its own with three replicas. Producers of both Java clients send to it with"
                    + " acks=all and acks=1, and consumers read it. Except in mode performance, transactional"
                    + " producers of both write to a second topic. Faults happen to one broker after the other. After"
                    + " each, all replicas must be in sync again. At the end of a cycle, the journals of all replicas"
                    + " must have the same bytes, every acknowledged message must be in each of them, once and in"
                    + " order, unless the mode allows its loss, and each transaction must be complete or absent."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no promise was broken",
            "1:a promise was broken: the findings are printed, the data and the logs are kept",
            "2:wrong usage"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq-chaos cluster --cycles 10 --seed 1",
            "  journalq-chaos cluster --mode consistent --faults kill,freeze",
            "  journalq-chaos cluster --duration 30m --cycles 1000 --report chaos.json"
        })
final class ClusterCommand implements Callable<Integer> {
    private static final int FEWEST_BROKERS = 3;
    private static final int MOST_BROKERS = 7;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--brokers",
            paramLabel = "COUNT",
            defaultValue = "3",
            description = "Number of brokers, from 3 to 7 (default: 3).")
    private int brokers;

    @Option(
            names = "--cycles",
            paramLabel = "COUNT",
            defaultValue = "20",
            description = "Number of cycles (default: 20).")
    private int cycles;

    @Option(
            names = "--faults-per-cycle",
            paramLabel = "COUNT",
            defaultValue = "5",
            description = "Number of faults in each cycle (default: 5).")
    private int faultsPerCycle;

    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Begin no cycle after this time, such as 30m, even if cycles are left.")
    private Duration duration;

    @Option(
            names = "--seed",
            paramLabel = "SEED",
            description = "Seed of the faults and of their times in the first cycle. The next cycle has the next seed."
                    + " It does not determine what the clients do.")
    private Long seed;

    @Option(
            names = "--faults",
            split = ",",
            paramLabel = "FAULT",
            description = {
                "Faults to choose from at random, separated by commas (default: all).",
                "kill: SIGKILL, and a start within 4 s.",
                "freeze: SIGSTOP for up to 6 s. A broker is fenced after 3 s without a heartbeat.",
                "stop: SIGTERM, and a start within 2 s after the end of the broker.",
                "roll: SIGTERM and a start of each broker in turn.",
                "wipe: SIGKILL, and a start with an empty data directory.",
                "replace: SIGKILL for good. A broker with another id takes over the replicas.",
                "majority: SIGKILL of all brokers but one, and a start.",
                "blackout: SIGKILL of all brokers, and a start.",
                "cut: for up to 8 s, nothing passes between a broker and the others, in both directions or in one,"
                        + " with or without the clients. On Linux only.",
                "delay: for up to 4 s, everything between a broker and all others is up to 300 ms late.",
                "reset: all connections of a broker are closed, up to five times."
            })
    private List<ClusterFault> faults = List.of(ClusterFault.values());

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            defaultValue = "eventual",
            description = "Delivery mode of the topics: eventual, consistent or performance (default: eventual).")
    private String mode;

    @Option(
            names = "--pause",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            defaultValue = "5ms",
            description = "Pause of each producer between two messages (default: 5ms).")
    private Duration pause;

    @Option(
            names = "--librdkafka",
            paramLabel = "PYTHON",
            description = "A Python with confluent-kafka. It runs a producer of librdkafka beside the others.")
    private Path python;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Write the numbers and the findings to this file, as JSON.")
    private Path reportFile;

    @Option(
            names = "--keep",
            description = "Keep the directory with the data and the logs even if there is no finding.")
    private boolean keep;

    @Override
    public Integer call() throws Exception {
        ChaosMain.requirePositive(spec, "--cycles", cycles);
        ChaosMain.requirePositive(spec, "--faults-per-cycle", faultsPerCycle);
        if (brokers < FEWEST_BROKERS || brokers > MOST_BROKERS) {
            throw new ParameterException(
                    spec.commandLine(), "--brokers must be from " + FEWEST_BROKERS + " to " + MOST_BROKERS);
        }
        ChaosMain.requireMode(spec, mode);
        ClusterPlan plan = new ClusterPlan(
                brokers,
                mode,
                cycles,
                faultsPerCycle,
                duration,
                seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40),
                faults,
                pause,
                python,
                Files.createTempDirectory("journalq-chaos"));
        System.out.println(plan);
        ClusterReport report = new ClusterRun(plan, System.out).run();
        if (reportFile != null) {
            report.write(reportFile);
        }
        for (ClusterReport.Finding finding : report.findings()) {
            System.out.println("FINDING " + finding.text());
        }
        if (!report.findings().isEmpty()) {
            System.out.println(
                    "to repeat the faults: " + report.replay(report.findings().get(0)));
            return 1;
        }
        if (!keep) {
            ChaosMain.delete(plan.directory());
        }
        return 0;
    }
}
