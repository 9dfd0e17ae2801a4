package io.journalq.cli;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.error.JournalQException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Parses and runs the command lines of both programs, and reports their errors. Stateless. */
final class CommandLines {
    private static final String DEBUG_HINT = "; for details, set JOURNALQ_LOG_LEVEL=DEBUG in the environment";

    /** A request can fail for each of thousands of partitions. */
    private static final int MAX_OTHER_FAILURES = 9;

    private CommandLines() {}

    /**
     * Returns the command line of {@code program}, an annotated top-level command. Its help is as wide as the terminal, and
     * 80 columns wide if standard output is not a terminal.
     *
     * @param commands the annotated classes of its commands
     * @param arguments what will be run. If the first one names a command, the others are left out: to read the annotations
     *     of all takes half of the time of a short command. Without arguments, the command line has all commands
     */
    static CommandLine of(Object program, List<Class<?>> commands, Terminal terminal, String... arguments) {
        CommandLine commandLine = new CommandLine(program);
        for (Class<?> command : needed(commands, arguments)) {
            commandLine.addSubcommand(new CommandLine(command));
        }
        addHelp(commandLine.getCommandSpec());
        return commandLine
                .setOut(terminal.outWriter())
                .setErr(terminal.errWriter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(terminal.writesToPerson())
                .setParameterExceptionHandler((wrong, words) -> explainUsage(wrong, terminal))
                .setExecutionExceptionHandler((failure, command, parsed) -> explainFailure(failure, terminal));
    }

    /** Adds --help and --version to a command and those below it, behind their other options. */
    private static void addHelp(CommandSpec command) {
        command.mixinStandardHelpOptions(true);
        command.subcommands().values().forEach(below -> addHelp(below.getCommandSpec()));
    }

    private static List<Class<?>> needed(List<Class<?>> commands, String... arguments) {
        List<Class<?>> named = commands.stream()
                .filter(command -> arguments.length > 0
                        && command.getAnnotation(Command.class).name().equals(arguments[0]))
                .toList();
        // Completion is about all commands.
        return named.isEmpty() || named.contains(CompletionCommand.class) ? commands : named;
    }

    /**
     * Runs a command line.
     *
     * @return the exit code
     */
    static int run(CommandLine commandLine, Terminal terminal, String... arguments) {
        try {
            int code = commandLine.execute(arguments);
            terminal.endProgress();
            terminal.flush();
            return code;
        } catch (Terminal.OutputClosed quiet) {
            return ExitCode.DONE;
        } catch (CommandFailure notWritten) {
            return explainFailure(notWritten, terminal);
        }
    }

    private static int explainUsage(ParameterException wrong, Terminal terminal) {
        CommandLine command = wrong.getCommandLine();
        String what = firstLine(wrong.getMessage()).replaceFirst("^Error: ", "");
        if (wrong instanceof UnmatchedArgumentException unmatched) {
            var near = unmatched.getSuggestions();
            what += near.isEmpty() ? "" : "; did you mean '" + near.get(0) + "'?";
        }
        String name = command.getCommandSpec().qualifiedName();
        terminal.tell(command.getCommandSpec().root().name() + ": " + what + "; see '" + name + " --help'");
        return ExitCode.USAGE;
    }

    private static int explainFailure(Exception failure, Terminal terminal) {
        if (failure instanceof Terminal.OutputClosed) {
            return ExitCode.DONE;
        }
        terminal.endProgress();
        if (failure instanceof CommandFailure || failure instanceof JournalQException) {
            terminal.tell("journalq: " + firstLine(failure.getMessage()));
            tellOthers(failure.getSuppressed(), terminal);
        } else if (failure instanceof NoSuchFileException missing) {
            terminal.tell("journalq: there is no file or directory " + missing.getFile());
        } else if (failure instanceof AccessDeniedException denied) {
            terminal.tell("journalq: permission denied: " + denied.getFile());
        } else {
            terminal.tell("journalq: unexpected " + firstLine(failure.toString()) + DEBUG_HINT);
        }
        if ("DEBUG".equals(System.getenv("JOURNALQ_LOG_LEVEL"))) {
            failure.printStackTrace(terminal.errWriter());
        }
        try {
            terminal.flush();
        } catch (Terminal.OutputClosed | CommandFailure alreadyFailed) {
            return ExitCode.FAILED;
        }
        return ExitCode.FAILED;
    }

    /** Reports the failures of the other resources of a request. */
    private static void tellOthers(Throwable[] others, Terminal terminal) {
        for (int i = 0; i < Math.min(others.length, MAX_OTHER_FAILURES); i++) {
            terminal.tell("journalq: " + firstLine(others[i].getMessage()));
        }
        if (others.length > MAX_OTHER_FAILURES) {
            terminal.tell("journalq: and " + Quantity.count(others.length - MAX_OTHER_FAILURES, "more failure"));
        }
    }

    /** The first line of a message, which can contain what a client or a broker has sent. */
    private static String firstLine(String text) {
        return text == null ? "" : Terminal.printable(text.lines().findFirst().orElse(""));
    }
}
