package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.journalq.bench.cli.BenchMain;
import io.journalq.chaos.ChaosMain;
import io.journalq.cli.JournalqMain;
import io.journalq.cli.ServerMain;
import io.journalq.cli.shell.Terminal;
import io.journalq.sim.SimMain;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** What the README, the documents and the help texts tell users to type must be understood. */
class DocumentedCommandsTest {
    private static final Path CHECKOUT = Path.of("..");
    /** Rendered from the help texts, whose examples are checked here. */
    private static final Path REFERENCE = CHECKOUT.resolve("docs").resolve("reference");

    private static final Terminal NOBODY = new Terminal(
            new ByteArrayInputStream(new byte[0]), new ByteArrayOutputStream(), new ByteArrayOutputStream(), "");
    private static final Pattern CODE = Pattern.compile("(?s)```\\w*\\n(.*?)```|`([^`\\n]+)`");
    /** Not after {@code -pl}: Maven modules have the names of programs. */
    private static final Pattern COMMAND =
            Pattern.compile("(?:^|(?<!-pl)\\s)(?:bin/)?(journalq(?:-server|-bench|-sim|-chaos)?) ([^|;<>#]+)");

    private static final Pattern WORD = Pattern.compile("'([^']*)'|([^\\s']+)");

    /** Made once: a program has up to 80 subcommands, and hundreds of command lines are parsed. */
    private static final List<CommandLine> PROGRAMS = programs();

    /** One command line of one text. */
    private record Documented(String where, String program, String words) {
        @Override
        public String toString() {
            return where + ": " + program + " " + words;
        }
    }

    static List<Documented> documented() throws IOException {
        List<Path> files = new ArrayList<>(List.of(CHECKOUT.resolve("README.md")));
        try (Stream<Path> docs = Files.walk(CHECKOUT.resolve("docs"))) {
            docs.filter(file -> file.toString().endsWith(".md") && !file.startsWith(REFERENCE))
                    .sorted()
                    .forEach(files::add);
        }
        List<Documented> documented = new ArrayList<>();
        for (Path file : files) {
            Matcher code = CODE.matcher(Files.readString(file));
            while (code.find()) {
                String text = code.group(1) == null ? code.group(2) : code.group(1);
                if (code.group(1) != null || text.startsWith("bin/")) {
                    text.replaceAll("\\\\\\R *", "")
                            .lines()
                            .forEach(line -> add(documented, file.getFileName().toString(), line));
                }
            }
        }
        for (CommandLine program : programs()) {
            addExamples(documented, program);
        }
        return documented;
    }

    /** Every program in {@code bin}. */
    static List<CommandLine> programs() {
        return List.of(
                JournalqMain.commandLine(NOBODY),
                ServerMain.commandLine(NOBODY),
                BenchMain.commandLine(),
                SimMain.commandLine(),
                ChaosMain.commandLine());
    }

    private static void add(List<Documented> documented, String where, String line) {
        Matcher command = COMMAND.matcher(line);
        while (command.find()) {
            documented.add(
                    new Documented(where, command.group(1), command.group(2).strip()));
        }
    }

    /** The examples of a command's help; what stands behind two spaces explains them. */
    private static void addExamples(List<Documented> documented, CommandLine command) {
        String where = command.getCommandSpec().qualifiedName() + " --help";
        for (String line : command.getCommandSpec().usageMessage().footer()) {
            if (command.getSubcommands().isEmpty()) {
                add(documented, where, line.strip().replaceFirst("   .*", ""));
            }
        }
        command.getSubcommands().values().forEach(child -> addExamples(documented, child));
    }

    @ParameterizedTest
    @MethodSource("documented")
    void shouldUnderstandWhatIsDocumented(Documented command) {
        // given
        CommandLine program = PROGRAMS.stream()
                .filter(one -> one.getCommandName().equals(command.program()))
                .findFirst()
                .orElseThrow();
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(command.words());
        while (word.find()) {
            words.add(word.group(1) == null ? word.group(2) : word.group(1));
        }

        // when / then
        assertThatCode(() -> program.parseArgs(words.toArray(String[]::new))).doesNotThrowAnyException();
    }

    @Test
    void shouldFindTheCommandsOfEveryKind() throws IOException {
        TreeSet<String> first = new TreeSet<>();
        documented()
                .forEach(command ->
                        first.add(command.program() + " " + command.words().split(" ", 2)[0]));

        assertThat(first)
                .contains(
                        "journalq topics",
                        "journalq produce",
                        "journalq consume",
                        "journalq groups",
                        "journalq configs")
                .contains("journalq-server start", "journalq-server stop", "journalq-server status")
                .contains("journalq-bench produce", "journalq-bench compare");
    }
}
