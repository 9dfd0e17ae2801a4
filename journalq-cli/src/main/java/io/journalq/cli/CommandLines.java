package io.journalq.cli;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.error.JournalQException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Parses and runs the command lines of both programs, and reports their errors. Stateless. */
final class CommandLines {
    private static final String DEBUG_HINT = "; for details, set JOURNALQ_LOG_LEVEL=DEBUG in the environment";

    private CommandLines() {}

    /**
     * Returns the command line of {@code program}, an annotated top-level command. Its help is as wide as the terminal, and
     * 80 columns wide if standard output is not a terminal.
     */
    static CommandLine of(Object program, Terminal terminal) {
        return new CommandLine(program)
                .setOut(terminal.outWriter())
                .setErr(terminal.errWriter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(terminal.writesToPerson())
                .setParameterExceptionHandler((wrong, words) -> explainUsage(wrong, terminal))
                .setExecutionExceptionHandler((failure, command, parsed) -> explainFailure(failure, terminal));
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
        } catch (Terminal.OutputClosed nobodyReads) {
            return ExitCode.FAILED;
        }
        return ExitCode.FAILED;
    }

    private static String firstLine(String text) {
        return text == null ? "" : text.lines().findFirst().orElse("");
    }
}
