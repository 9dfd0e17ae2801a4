package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.DeliveryMode;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.ReplicaOptions;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.profile.FlightRecordingCommand;
import io.journalq.bench.report.ReportCommand;
import io.journalq.bench.scenario.BacklogCommand;
import io.journalq.bench.scenario.CatchUpCommand;
import io.journalq.bench.scenario.LatencyCommand;
import io.journalq.bench.scenario.LiveCommand;
import io.journalq.bench.scenario.MatrixCommand;
import io.journalq.bench.scenario.PartitionsCommand;
import io.journalq.bench.scenario.PubCommand;
import io.journalq.bench.scenario.SubCommand;
import io.journalq.bench.scenario.TransferCommand;
import io.journalq.common.commandline.ProgramVersion;
import io.journalq.common.record.CompressionCodec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.Main;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Unmatched;
import picocli.CommandLine.UnmatchedArgumentException;

/** The entry point of {@code bin/journalq-bench}. */
@Command(
        name = "journalq-bench",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        description = "Measures JournalQ and other brokers.",
        subcommands = {
            ProduceCasesCommand.class,
            CompareCommand.class,
            SweepCommand.class,
            BrokerLoadCommand.class,
            GatewayCommand.class,
            SecurityCommand.class,
            LiveCommand.class,
            LatencyCommand.class,
            MatrixCommand.class,
            TransferCommand.class,
            PartitionsCommand.class,
            BacklogCommand.class,
            CatchUpCommand.class,
            PubCommand.class,
            SubCommand.class,
            FlightRecordingCommand.class,
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
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    private BenchMain() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command is given");
    }

    public static void main(String[] arguments) {
        // One carrier thread is best for virtual threads that send, because they only wait for one shared connection.
        if (System.getProperty("jdk.virtualThreadScheduler.parallelism") == null) {
            System.setProperty("jdk.virtualThreadScheduler.parallelism", "1");
        }
        System.exit(commandLine().setUsageHelpAutoWidth(true).execute(arguments));
    }

    /** Returns the command line with all commands and options. */
    public static CommandLine commandLine() {
        CommandLine program = new CommandLine(new BenchMain());
        // All arguments after the scenario's name belong to the scenario.
        program.getSubcommands().get("profile").setStopAtPositional(true);
        return program.registerConverter(Delivery.class, text -> OptionTypes.constant(Delivery.class, text))
                .registerConverter(CompressionCodec.class, text -> OptionTypes.constant(CompressionCodec.class, text))
                .registerConverter(DeliveryMode.class, text -> OptionTypes.constant(DeliveryMode.class, text))
                .registerConverter(
                        ReplicaOptions.Acks.class, text -> OptionTypes.constant(ReplicaOptions.Acks.class, text))
                .registerConverter(ReplicaOptions.Heap.class, ReplicaOptions.Heap::parse)
                .registerConverter(BrokerChoice.class, text -> OptionTypes.constant(BrokerChoice.class, text))
                .registerConverter(
                        GatewayBroker.Name.class, text -> OptionTypes.constant(GatewayBroker.Name.class, text))
                .registerConverter(GatewayCases.Name.class, text -> OptionTypes.constant(GatewayCases.Name.class, text))
                .registerConverter(
                        ProduceCasesCommand.ClientChoice.class,
                        text -> OptionTypes.constant(ProduceCasesCommand.ClientChoice.class, text))
                .registerConverter(
                        ComparisonOptions.CallerKind.class,
                        text -> OptionTypes.constant(ComparisonOptions.CallerKind.class, text))
                .registerConverter(DurabilityOption.class, text -> OptionTypes.constant(DurabilityOption.class, text))
                .registerConverter(
                        CompareCommand.Peer.class, text -> OptionTypes.constant(CompareCommand.Peer.class, text))
                .registerConverter(
                        CompareCommand.ClientSet.class,
                        text -> OptionTypes.constant(CompareCommand.ClientSet.class, text))
                .registerConverter(WorkloadOptions.Cases.class, WorkloadOptions.Cases::parse)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((wrong, words) -> explainUsage(wrong))
                .setExecutionExceptionHandler((failure, command, parsed) -> explainFailure(failure, command));
    }

    @Command(
            name = "completion",
            mixinStandardHelpOptions = true,
            description = "Prints a script that completes commands and options in bash and zsh.")
    int completion() {
        spec.commandLine().getOut().println(AutoComplete.bash(spec.name(), spec.commandLine()));
        return CommandLine.ExitCode.OK;
    }

    private static int explainUsage(ParameterException wrong) {
        String what = wrong.getMessage().lines().findFirst().orElse("").replaceFirst("^Error: ", "");
        if (wrong instanceof UnmatchedArgumentException unmatched
                && !unmatched.getSuggestions().isEmpty()) {
            what += "; did you mean '" + unmatched.getSuggestions().get(0) + "'?";
        }
        return refuse(what, wrong.getCommandLine());
    }

    private static int explainFailure(Exception failure, CommandLine command) {
        if (failure instanceof BenchException bench && bench.isWrongUsage()) {
            return refuse(failure.getMessage(), command);
        }
        if (failure instanceof BenchException) {
            command.getErr().println("journalq-bench: " + failure.getMessage());
        } else {
            failure.printStackTrace(command.getErr());
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    private static int refuse(String what, CommandLine command) {
        String name = command.getCommandSpec().qualifiedName();
        command.getErr().println("journalq-bench: " + what + "; see '" + name + " --help'");
        return CommandLine.ExitCode.USAGE;
    }

    /** {@code journalq-bench jmh}: the micro-benchmarks. All arguments are passed to JMH. */
    @Command(
            name = "jmh",
            description = {
                "Runs the micro-benchmarks with JMH.",
                "They cover batches, buffers, lz4, checksums, journal appends and protocol decoding. All arguments are"
                        + " JMH's own: jmh -l lists the benchmarks, jmh -h explains the options."
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
