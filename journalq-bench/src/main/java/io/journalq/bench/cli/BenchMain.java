package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.profile.ProfileCommand;
import io.journalq.bench.report.ReportCommand;
import io.journalq.bench.scenario.BacklogCommand;
import io.journalq.bench.scenario.LatencyCommand;
import io.journalq.bench.scenario.LiveCommand;
import io.journalq.bench.scenario.MatrixCommand;
import io.journalq.bench.scenario.PartitionsCommand;
import io.journalq.bench.scenario.PubCommand;
import io.journalq.bench.scenario.SubCommand;
import io.journalq.bench.scenario.TransferCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.Main;
import picocli.CommandLine.Unmatched;

/** {@code journalq-bench}. */
@Command(
        name = "journalq-bench",
        mixinStandardHelpOptions = true,
        version = "journalq-bench 0.1.0",
        description = "Measures brokers: JournalQ, and Apache Kafka beside it.",
        subcommands = {
            ProduceCasesCommand.class,
            CompareCommand.class,
            SweepCommand.class,
            BrokerLoadCommand.class,
            LiveCommand.class,
            LatencyCommand.class,
            MatrixCommand.class,
            TransferCommand.class,
            PartitionsCommand.class,
            BacklogCommand.class,
            PubCommand.class,
            SubCommand.class,
            ProfileCommand.class,
            ReportCommand.class,
            BenchMain.JmhCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench produce --case all --duration 10s",
            "  journalq-bench produce --case 1 --threads 100 --bootstrap localhost:9092",
            "  journalq-bench compare --peers kafka --cases 1,2,3,4 --output json",
            "  journalq-bench sweep --broker kafka --cases 1 --save presets.json",
            "  journalq-bench broker-load --broker journalq",
            "  journalq-bench matrix --brokers journalq,nats,jetstream",
            "  journalq-bench latency --brokers journalq,kafka",
            "  journalq-bench live --rate 10000 --duration 1h",
            "  journalq-bench jmh Lz4Benchmark"
        })
public final class BenchMain implements Runnable {
    private static final int FAILED = 1;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    private BenchMain() {}

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "say what to measure");
    }

    public static void main(String[] arguments) {
        // One carrier serves virtual callers best: they only wait for the one connection that they share.
        if (System.getProperty("jdk.virtualThreadScheduler.parallelism") == null) {
            System.setProperty("jdk.virtualThreadScheduler.parallelism", "1");
        }
        System.exit(commandLine().execute(arguments));
    }

    /** The program as it is typed: its commands, options and help. */
    public static CommandLine commandLine() {
        CommandLine program = new CommandLine(new BenchMain());
        // What follows a scenario's name is the scenario's.
        program.getSubcommands().get("profile").setStopAtPositional(true);
        return program.setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(java.time.Duration.class, Durations::parse)
                .registerConverter(Delivery.class, Delivery::of)
                .setExecutionExceptionHandler((failure, commandLine, parsed) -> {
                    if (failure instanceof BenchException) {
                        commandLine.getErr().println("journalq-bench: " + failure.getMessage());
                    } else {
                        failure.printStackTrace(commandLine.getErr());
                    }
                    return FAILED;
                });
    }

    /** {@code journalq-bench jmh}: the micro-benchmarks. What follows goes to JMH as it is. */
    @Command(
            name = "jmh",
            description = {
                "Runs micro-benchmarks by JMH: batches, buffers, lz4, checksums, journal appends, protocol decoding.",
                "Options and patterns are JMH's own: jmh -l lists the benchmarks, jmh -h explains the options."
            })
    static final class JmhCommand implements Callable<Integer> {
        @Unmatched
        private List<String> arguments = new ArrayList<>();

        @Override
        public Integer call() throws IOException {
            Main.main(arguments.toArray(String[]::new));
            return 0;
        }
    }
}
