package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class BenchMainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine commandLine = BenchMain.commandLine();
        commandLine.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }

    @ParameterizedTest
    @MethodSource("commandsWithHelp")
    void shouldExplainItselfWhenAskedForHelp(String command) {
        int exitCode = command.isEmpty() ? run("--help") : run(command, "--help");

        assertThat(exitCode).isZero();
        assertThat(out.toString()).contains("Usage: journalq-bench").contains("--help");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldFitEightyColumnsAndEndItsSentencesWhenAskedForHelp(String command) {
        CommandLine program =
                BenchMain.commandLine().setUsageHelpAutoWidth(false).setUsageHelpWidth(80);
        CommandLine asked =
                command.isEmpty() ? program : program.getSubcommands().get(command);

        assertThat(asked.getUsageMessage(CommandLine.Help.Ansi.OFF).lines()).allMatch(line -> line.length() <= 80);
        assertThat(asked.getCommandSpec().usageMessage().description()).allMatch(text -> text.endsWith("."));
        // An example that is wrapped cannot be copied.
        assertThat(asked.getCommandSpec().usageMessage().footer()).allMatch(line -> line.length() < 80);
    }

    @Test
    void shouldShowASentencePerCommandWhenAskedForAllCommands() {
        String help = BenchMain.commandLine()
                .setUsageHelpAutoWidth(false)
                .setUsageHelpWidth(80)
                .getUsageMessage(CommandLine.Help.Ansi.OFF);
        String list = help.substring(help.indexOf("Commands:"), help.indexOf("Examples:"));

        String words = list.replaceAll("\\s+", " ");
        for (CommandLine command : BenchMain.commandLine().getSubcommands().values()) {
            String sentence = command.getCommandSpec().usageMessage().description()[0];
            assertThat(sentence).matches("[A-Z][^.]*(README\\.md[^.]*)?\\.");
            assertThat(words).contains(command.getCommandName() + " " + sentence);
        }
    }

    /** All but jmh, whose options are those of JMH. */
    static Stream<String> commandsWithHelp() {
        return commands().filter(command -> !command.equals("jmh"));
    }

    static Stream<String> commands() {
        return Stream.concat(Stream.of(""), BenchMain.commandLine().getSubcommands().keySet().stream());
    }

    @ParameterizedTest
    @CsvSource({
        "prodcue, --case",
        "produce, --unknown",
        "produce, --duration=soon",
        "produce, --output=xml",
        "produce, --threads=many",
        "produce, --client-setting=linger",
        "sweep, --cases"
    })
    void shouldExitWithTwoWhenItIsCalledWrongly(String command, String argument) {
        assertThat(run(command, argument)).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void shouldExitWithTwoWhenNoCommandIsGiven() {
        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("no command is given", "journalq-bench --help");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "produce | --case=9 | there is no case '9'; use 1, 2, 3, 4 or all",
                "produce | --case=none | use 1, 2, 3, 4 or all",
                "produce | --duration=0s | use 1ms to 365d",
                "produce | --duration=10 | '10' is not a duration; use a number with one of the units ms, s, m, h, d",
                "produce | --partitions=0 | use 1 or more",
                "produce | --consumers=-1 | use 1 or more",
                "produce | --groups=61 | use at most as many groups as there are consumers",
                "produce | --rate=-5 | use 0 or more",
                "produce | --in-flight=0 | use 1 or more",
                "produce | --payload=prose | use text, random, json or file:PATH",
                "produce | --message-size=3 | use 16 to 900000 bytes",
                "produce | --message-size=1KB | '1KB' is not a size",
                "produce | --broker=nats | 'nats' is not one of journalq, kafka",
                "produce | --client=sarama | 'sarama' is not one of journalq, kafka-clients",
                "compare | --peers=nats | 'nats' is not one of kafka",
                "compare | --cases=1,9 | there is no case '9'",
                "compare | --repetitions=0 | use 1 or more",
                "compare | --callers=green | 'green' is not one of best, platform, virtual",
                "compare | --clients=both | 'both' is not one of own, kafka",
                "compare | --durability=never | 'never' is not one of page-cache, default",
                "sweep | --cases=none | use 1, 2, 3, 4 or all",
                "broker-load | --duration=0s | use 1ms to 365d",
                "broker-load | --connections=0 | use 1 or more",
                "broker-load | --shards=0 | use 1 or more",
                "broker-load | --partitions-per-request=201 | use at most as many as there are partitions",
                "gateway | --brokers=kafka | 'kafka' is not one of journalq, nats, jetstream, web-stomp",
                "gateway | --case=all | 'all' is not one of throughput, posts, events, stuck, search",
                "pub | --count=5 | use --bootstrap HOST:PORT",
                "sub | --timeout=0s | use 1ms to 365d",
                "profile | nosuch | 'nosuch' is not a scenario",
                "report | --home=nosuch | nosuch has no directory docs/benchmarks"
            })
    void shouldSayInOneLineWhatToDoWhenAValueIsWrong(String command, String argument, String remedy) {
        assertThat(run(command, argument)).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString())
                .startsWith("journalq-bench: ")
                .contains(remedy)
                .endsWith("; see 'journalq-bench " + command + " --help'" + System.lineSeparator());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "live | --broker=nosuch | 'nosuch' is not a broker; use one of journalq,",
                "live | --duration=0s | use 1ms to 365d",
                "live | --sample-interval=0s | use 1ms to 365d",
                "live | --payload=prose | use text, random, json or file:PATH",
                "latency | --brokers=journalq,nosuch | 'nosuch' is not a broker",
                "latency | --duration=0s | use 1ms to 365d",
                "latency | --rates=1000,0 | use 1 or more",
                "latency | --delivery=maybe | 'maybe' is not one of at-most-once, at-least-once, synced",
                "matrix | --brokers=nosuch | 'nosuch' is not a broker",
                "matrix | --sizes=1024,10 | use 24 bytes or more",
                "matrix | --compression=rar | 'rar' is not one of none, gzip, snappy, lz4, zstd",
                "transfer | --brokers=nosuch | 'nosuch' is not a broker",
                "transfer | --partitions=0 | use 1 or more",
                "partitions | --brokers=nosuch | 'nosuch' is not a broker",
                "partitions | --bootstrap=localhost:1 | leave --bootstrap out",
                "backlog | --size=0 | use 1 or more",
                "backlog | --size=10XB | '10XB' is not a size",
                "backlog | --message-size=10 | use 24 bytes or more"
            })
    void shouldLeaveNoDirectoryWhenAValueIsWrong(
            String command, String argument, String remedy, @TempDir Path directory) {
        Path results = directory.resolve("results");

        assertThat(run(command, argument, "--results=" + results)).isEqualTo(2);

        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains(remedy);
        assertThat(results).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({
        "latency, --client-setting=journalq:nosuch=1, the producer has no setting",
        "live, --broker-setting=no.such.setting=1, no.such.setting",
        "transfer, --input=nosuch, cannot read nosuch"
    })
    void shouldLeaveNoDirectoryWhenTheRunCannotBegin(
            String command, String argument, String problem, @TempDir Path directory) {
        Path results = directory.resolve("results");

        assertThat(run(command, argument, "--results=" + results)).isNotZero();

        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains(problem);
        assertThat(results).doesNotExist();
    }
}
