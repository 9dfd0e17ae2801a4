package io.journalq.chaos;

import io.journalq.chaos.failover.FailoverFault;
import io.journalq.chaos.failover.FailoverMeasurement;
import io.journalq.chaos.failover.FailoverPlan;
import io.journalq.chaos.failover.FailoverReport;
import io.journalq.common.commandline.ProgramVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures for how long clients get no acknowledgement when a broker of a cluster fails. */
@Command(
        name = "failover",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        description = {
            "Measures for how long clients get no acknowledgement when a broker of a cluster fails.",
            "",
            "Starts a cluster on this machine. The clients of JournalQ and Kafka, and others with --client, send to a"
                    + " topic with three replicas and min.insync.replicas=2, with acks=all. Faults happen to a leader of"
                    + " partitions, one after the other. The time is the longest one without an acknowledgement, of the"
                    + " partitions that the broker led. After each fault, its partitions move back to it: these times"
                    + " are those of move.",
            "",
            "If a round takes longer than its goal, what the brokers have logged since the fault is kept in a directory"
                    + " that is named.",
            "",
            "The p99 of fewer than 100 rounds is the longest time. Use a machine with free processor time."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every p99 is within its goal",
            "1:one is not, or the cluster did not recover: the data and all logs are kept then",
            "2:wrong usage"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq-chaos failover --rounds 5 --report failover.json",
            "  journalq-chaos failover --faults kill,freeze --mode consistent",
            "  journalq-chaos failover --faults kill --idle-partitions 10000 --rate 1000",
            "  journalq-chaos failover --client 'librdkafka=python3 producer.py'"
        })
final class FailoverCommand implements Callable<Integer> {
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
            names = "--rounds",
            paramLabel = "COUNT",
            defaultValue = "3",
            description = "How often each fault happens (default: 3).")
    private int rounds;

    @Option(
            names = "--rate",
            paramLabel = "MESSAGES",
            defaultValue = "20000",
            description = "Messages per second of 100 bytes, of all clients together (default: 20000).")
    private int rate;

    @Option(
            names = "--partitions",
            paramLabel = "COUNT",
            defaultValue = "6",
            description = "Partitions of the topic (default: 6).")
    private int partitions;

    @Option(
            names = "--idle-partitions",
            paramLabel = "COUNT",
            defaultValue = "0",
            description = "Partitions of another topic with three replicas, to which nobody sends. When a broker is"
                    + " killed, led is the time until a broker that lives names another leader for all of them that it"
                    + " led, and used the time until 100 of them have acknowledged a message after that. Goal: 3 s, and"
                    + " 5 s if it was the controller (default: 0).")
    private int idlePartitions;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            defaultValue = "eventual",
            description = "Delivery mode of the topic: eventual, consistent or performance (default: eventual).")
    private String mode;

    @Option(
            names = "--faults",
            split = ",",
            paramLabel = "FAULT",
            description = {
                "Faults to measure, separated by commas (default: all).",
                "kill: SIGKILL of a broker that is not the controller. Goal: 1.5 s.",
                "controller: SIGKILL of the controller. Goal: 5 s.",
                "freeze: SIGSTOP. Goal: 4 s.",
                "cut: nothing passes between the broker and the others, nor between it and the clients. On Linux only."
                        + " Goal: 4 s.",
                "stop: SIGTERM. Goal: 0.2 s.",
                "move: no fault, but another leader is elected. Goal: 0.2 s."
            })
    private List<FailoverFault> faults = List.of(FailoverFault.values());

    @Option(
            names = "--client",
            paramLabel = "NAME=COMMAND",
            description = "Another client: a program that gets the bootstrap servers, the topic, the number of"
                    + " partitions, the messages per second, and the time-out of a request in ms as arguments. It prints"
                    + " the number of the partition when a message is acknowledged, at least every 5 ms, and ends with its"
                    + " input. clients-smoke/failover has some. Can be repeated.")
    private Map<String, String> programs = new LinkedHashMap<>();

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Write the time of each round to this file, as JSON.")
    private Path reportFile;

    @Override
    public Integer call() throws Exception {
        ChaosMain.requirePositive(spec, "--rounds", rounds);
        ChaosMain.requirePositive(spec, "--rate", rate);
        ChaosMain.requirePositive(spec, "--partitions", partitions);
        if (idlePartitions < 0) {
            throw new ParameterException(spec.commandLine(), "--idle-partitions must be 0 or more");
        }
        ChaosMain.requireMode(spec, mode);
        if (brokers < FEWEST_BROKERS || brokers > MOST_BROKERS) {
            throw new ParameterException(
                    spec.commandLine(), "--brokers must be from " + FEWEST_BROKERS + " to " + MOST_BROKERS);
        }
        if (idlePartitions > 0 && idlePartitions < brokers) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--idle-partitions must be 0, or at least --brokers, so that each broker leads one");
        }
        if (partitions < brokers) {
            throw new ParameterException(
                    spec.commandLine(), "--partitions must be at least --brokers, so that each broker leads one");
        }
        Map<String, List<String>> commands = new LinkedHashMap<>();
        programs.forEach(
                (name, command) -> commands.put(name, List.of(command.strip().split("\\s+"))));
        FailoverPlan plan = new FailoverPlan(
                brokers,
                mode,
                rounds,
                rate,
                partitions,
                idlePartitions,
                faults,
                commands,
                Files.createTempDirectory("journalq-failover"));
        System.out.println("logs: " + plan.directory());
        FailoverReport report = new FailoverReport(plan, new FailoverMeasurement(plan, System.out).run());
        if (reportFile != null) {
            report.write(reportFile);
        }
        ChaosMain.delete(plan.cluster());
        if (!Files.exists(plan.slowRounds())) {
            ChaosMain.delete(plan.directory());
        }
        print(report);
        return report.rows().stream().allMatch(FailoverReport.Row::isMet) ? 0 : 1;
    }

    private static void print(FailoverReport report) {
        System.out.println("fault       client         rounds   p50 s   p99 s  goal s");
        for (FailoverReport.Row row : report.rows()) {
            System.out.printf(
                    Locale.ROOT,
                    "%-11s %-14s %6d %7.2f %7.2f %7.2f%s%n",
                    row.fault(),
                    row.client(),
                    row.timesMs().size(),
                    row.medianSeconds(),
                    row.p99Seconds(),
                    row.goalSeconds(),
                    row.isMet() ? "" : "  missed");
        }
    }
}
