package io.journalq.cli;

import io.journalq.cli.local.StartCommand;
import io.journalq.cli.local.StatusCommand;
import io.journalq.cli.local.StopCommand;
import io.journalq.cli.local.UsersCommand;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Program;
import io.journalq.cli.shell.Terminal;
import io.journalq.common.commandline.ProgramVersion;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** {@code journalq-server}. */
@Command(
        name = "journalq-server",
        description = "Starts and stops a broker on this machine, shows its status, and creates its users.",
        scope = ScopeType.INHERIT,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done; for status: the broker is ready",
            "1:failed; for status: the broker is running but not ready",
            "2:wrong usage",
            "3:for status: the broker is not running"
        },
        footerHeading = "%nEnvironment:%n",
        footer = {
            "  JAVA_HOME        the JDK to use (default: the newest found, 17 to 25)",
            "  JOURNALQ_HEAP    Java heap of the broker, such as 2g (default: 512m)",
            "  JOURNALQ_OPTS    additional Java options for the broker",
            "  JOURNALQ_LOG_DIR directory of the broker's log (default: logs/ next to bin/)"
        })
final class ServerCommand extends CommandGroup implements Program {
    /** The commands, in the order of the help. */
    static final List<Class<?>> COMMANDS = List.of(
            StartCommand.class, StopCommand.class, StatusCommand.class, UsersCommand.class, CompletionCommand.class);

    private final Terminal terminal;

    ServerCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Terminal terminal() {
        return terminal;
    }
}
