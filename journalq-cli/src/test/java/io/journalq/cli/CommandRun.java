package io.journalq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.cli.shell.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;

/**
 * One run of the real commands, as a process would see it.
 *
 * @param out what went to standard output
 * @param err what went to standard error
 */
public record CommandRun(int exitCode, String out, String err) {
    public static CommandRun journalq(String... arguments) {
        return journalqWithInput("", arguments);
    }

    public static CommandRun journalqWithInput(String input, String... arguments) {
        return journalq(input, Map.of(), arguments);
    }

    /** Runs a command that reads this input, with these environment variables and no others. */
    public static CommandRun journalq(String input, Map<String, String> environment, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(input.getBytes(UTF_8)), out, err, "");
        int exitCode = JournalqMain.run(terminal, environment, arguments);
        return new CommandRun(exitCode, out.toString(UTF_8), err.toString(UTF_8));
    }

    public static CommandRun server(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, err, "");
        int exitCode = ServerMain.run(terminal, arguments);
        return new CommandRun(exitCode, out.toString(UTF_8), err.toString(UTF_8));
    }

    public List<String> outLines() {
        return out.lines().toList();
    }

    public List<String> errLines() {
        return err.lines().toList();
    }
}
