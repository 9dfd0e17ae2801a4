package io.journalq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class CommandLinesTest {
    private static final Terminal NOBODY = new Terminal(
            new ByteArrayInputStream(new byte[0]), new ByteArrayOutputStream(), new ByteArrayOutputStream(), "");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | a command is missing",
                "topics | a command is missing: create, list, describe, alter, delete",
                "topcs list | did you mean 'topics'?",
                "topics create | Missing required parameter: 'NAME'",
                "topics create a --partitions 0 | --partitions must be 1 or more",
                "topics create a --partitions many | 'many' is not an int",
                "topics alter a | specify a change",
                "topics list --output xml | expected one of [TABLE, JSON]",
                "topics list --bootstrap nowhere | is not of the form host:port",
                "topics list --bootstrap localhost:99999 | is not of the form host:port",
                "consume a --from yesterday | 'yesterday' is not a position; use beginning, end,",
                "consume a --format %v | is not a format; use value, json, or a template",
                "consume a --format {valeu} | {valeu} is not a placeholder; use {topic},",
                "consume a --max-messages 0 | --max-messages must be 1 or more",
                "produce a --max-line-size 0 | '0' is too small; use 1 or more",
                "produce a --max-line-size 2147483647 | --max-line-size must be at most 2147467263",
                "consume a --timeout 5 | is not a duration; use a number with one of the units ms, s, m, h, d",
                "produce a --acks 2 | is not one of 0, 1, all",
                "produce a --format xml | --format must be value or json",
                "produce a --format json --key-separator : | --key-separator requires --format value",
                "configs describe | --topic=NAME | --broker=ID",
                "configs describe --topic a --broker 1 | mutually exclusive",
                "configs describe --broker one | --broker must be the number of a broker or 'all'",
                "topics list --bootstrap a:1 --profile b | --bootstrap and --profile are mutually exclusive",
                "profile add prod | specify the address of the broker: --bootstrap HOST:PORT",
                "profile add prod --bootstrap nowhere | is not of the form host:port",
                "profile add a/b --bootstrap a:1 | 'a/b' is not a name",
                "consume a --group g --partition 1 | --group cannot be combined with --until or --partition",
                "consume a --group g --from 5 | with --group, --from must be beginning or end",
                "configs set --topic a | Missing required parameter: 'KEY=VALUE'",
            })
    void shouldExplainInOneLineWhenUsageIsWrong(String arguments, String expected) {
        // given
        String[] words = arguments.isEmpty() ? new String[0] : arguments.split(" ", -1);

        // when
        CommandRun run = CommandRun.journalq(words);

        // then
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: ")
                .contains(expected)
                .endsWith("--help'"));
    }

    @Test
    void shouldShowExamplesInTheHelpOfEveryCommand() {
        for (List<String> command : leaves()) {
            // given
            List<String> words = new ArrayList<>(command.subList(1, command.size()));
            words.add("--help");

            // when
            CommandRun run = command.get(0).equals("journalq")
                    ? CommandRun.journalq(words.toArray(String[]::new))
                    : CommandRun.server(words.toArray(String[]::new));

            // then
            assertThat(run.exitCode()).as(command.toString()).isEqualTo(ExitCode.DONE);
            assertThat(run.out()).contains("Usage: " + String.join(" ", command), "Exit codes:", "Examples:");
            assertThat(run.err()).isEmpty();
        }
    }

    @Test
    void shouldWrapHelpAtTheWidthOfTheTerminalIfThereIsOne() {
        Terminal ofPerson = new Terminal(
                new ByteArrayInputStream(new byte[0]), new ByteArrayOutputStream(), new ByteArrayOutputStream(), "1");

        assertThat(JournalqMain.commandLine(ofPerson).isUsageHelpAutoWidth()).isTrue();
        assertThat(JournalqMain.commandLine(NOBODY).isUsageHelpAutoWidth()).isFalse();
    }

    @Test
    void shouldFitEightyColumnsAndEndSentencesInTheHelpOfEveryCommand() {
        List<CommandLine> commands = new ArrayList<>();
        collectAll(JournalqMain.commandLine(NOBODY), commands);
        collectAll(ServerMain.commandLine(NOBODY), commands);

        assertThat(commands).allSatisfy(command -> {
            assertThat(command.getUsageMessage(CommandLine.Help.Ansi.OFF).lines())
                    .allMatch(line -> line.length() <= 80);
            assertThat(command.getCommandSpec().usageMessage().description()).allMatch(text -> text.endsWith("."));
            // An example that is wrapped cannot be copied.
            assertThat(command.getCommandSpec().usageMessage().footer()).allMatch(line -> line.length() < 80);
        });
    }

    private static void collectAll(CommandLine command, List<CommandLine> commands) {
        commands.add(command);
        command.getSubcommands().values().forEach(child -> collectAll(child, commands));
    }

    @Test
    void shouldPrintACompletionScriptThatBashAccepts(@TempDir Path directory) throws Exception {
        // given
        CommandRun run = CommandRun.journalq("completion");
        Path script = Files.writeString(directory.resolve("completion.sh"), run.out());

        // when
        Process bash = new ProcessBuilder("bash", "-n", script.toString())
                .redirectErrorStream(true)
                .start();
        String complaints = new String(bash.getInputStream().readAllBytes(), UTF_8);

        // then
        assertThat(complaints).isEmpty();
        assertThat(bash.waitFor()).isZero();
        assertThat(run.out()).contains("describe", "--bootstrap", "--max-messages");
    }

    /** Types commands into a shell in a terminal of its own, and prints what the terminal shows. */
    private static final String TYPE_IN_ZSH =
            """
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "source $1; print lo''aded"
            zpty -r shell seen '*loaded*'
            zpty -w -n shell $'journalq top\\tcre\\t--part\\t'
            zpty -r shell seen '*--partitions*'
            print -r -- "$seen"
            zpty -d shell
            """;

    @Test
    @Timeout(60)
    void shouldCompleteCommandsAndOptionsWhenTheScriptIsSourcedInZsh(@TempDir Path directory) throws Exception {
        // given
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/zsh")), "zsh is not installed");
        Path completion = Files.writeString(
                directory.resolve("completion.sh"),
                CommandRun.journalq("completion").out());
        Path typing = Files.writeString(directory.resolve("type.zsh"), TYPE_IN_ZSH);

        // when
        ProcessBuilder builder = new ProcessBuilder("/usr/bin/zsh", "-f", typing.toString(), completion.toString());
        builder.environment().put("ZDOTDIR", directory.toString());
        Process zsh = builder.redirectErrorStream(true).start();
        String seen;
        try {
            seen = new String(zsh.getInputStream().readAllBytes(), UTF_8);
        } finally {
            zsh.destroy();
        }

        // then
        assertThat(seen.replaceAll("\\e\\[[?0-9;]*[A-Za-z]", "").replaceAll(" \b", ""))
                .contains("journalq topics create --partitions");
    }

    @Test
    void shouldEndQuietlyWhenNobodyReadsTheOutput() {
        // given
        OutputStream closedPipe = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), closedPipe, err, "");

        // when
        int exitCode = JournalqMain.run(terminal, Map.of(), "completion");

        // then
        assertThat(exitCode).isEqualTo(ExitCode.DONE);
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @Test
    void shouldFailWhenTheOutputCannotBeWritten() {
        // given
        OutputStream fullDisk = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), fullDisk, err, "");

        // when
        int exitCode = JournalqMain.run(terminal, Map.of(), "completion");

        // then
        assertThat(exitCode).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString(UTF_8).lines())
                .containsExactly("journalq: cannot write to standard output: No space left on device;"
                        + " the result is incomplete");
    }

    @Test
    void shouldKnowOnlyTheCommandThatRunsAndDescribeItInTheSameWay() {
        CommandLine all = JournalqMain.commandLine(NOBODY);
        for (Map.Entry<String, CommandLine> command : all.getSubcommands().entrySet()) {
            boolean completes = command.getKey().equals("completion");

            CommandLine one = CommandLines.of(
                    new JournalqCommand(NOBODY, Map.of()),
                    JournalqCommand.COMMANDS,
                    NOBODY,
                    command.getKey(),
                    "--help");

            assertThat(one.getSubcommands())
                    .hasSize(completes ? all.getSubcommands().size() : 1);
            assertThat(usages(one.getSubcommands().get(command.getKey()))).isEqualTo(usages(command.getValue()));
        }
    }

    /** The help of a command and of those below it. */
    private static List<String> usages(CommandLine command) {
        List<String> usages = new ArrayList<>(List.of(command.getUsageMessage()));
        command.getSubcommands().values().forEach(below -> usages.addAll(usages(below)));
        return usages;
    }

    /** Every command that does something, as its words. */
    private static List<List<String>> leaves() {
        List<List<String>> leaves = new ArrayList<>();
        collect(JournalqMain.commandLine(NOBODY), List.of(), leaves);
        collect(ServerMain.commandLine(NOBODY), List.of(), leaves);
        return leaves;
    }

    private static void collect(CommandLine command, List<String> parents, List<List<String>> leaves) {
        List<String> words = new ArrayList<>(parents);
        words.add(command.getCommandName());
        if (command.getSubcommands().isEmpty()) {
            leaves.add(words);
        }
        command.getSubcommands().values().forEach(child -> collect(child, words, leaves));
    }
}
