package io.journalq.cli;

import io.journalq.cli.access.AccessCommand;
import io.journalq.cli.cluster.ClusterCommand;
import io.journalq.cli.group.GroupsCommand;
import io.journalq.cli.journal.JournalCommand;
import io.journalq.cli.keys.KeysCommand;
import io.journalq.cli.message.ConsumeCommand;
import io.journalq.cli.message.ProduceCommand;
import io.journalq.cli.profile.ProfileCommand;
import io.journalq.cli.shell.ClientProgram;
import io.journalq.cli.shell.Terminal;
import io.journalq.cli.topic.ConfigsCommand;
import io.journalq.cli.topic.TopicsCommand;
import io.journalq.cli.transaction.TransactionsCommand;
import io.journalq.common.commandline.ProgramVersion;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** {@code journalq}: the options that all commands share, such as the broker to connect to. */
@Command(
        name = "journalq",
        description = "Manages topics, groups and transactions of a broker that supports the Kafka protocol. Writes and"
                + " reads messages.",
        scope = ScopeType.INHERIT,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:failed; a line on standard error states the reason", "2:wrong usage"})
final class JournalqCommand extends ClientProgram {
    /** The commands, in the order of the help. */
    static final List<Class<?>> COMMANDS = List.of(
            TopicsCommand.class,
            ProduceCommand.class,
            ConsumeCommand.class,
            GroupsCommand.class,
            TransactionsCommand.class,
            ConfigsCommand.class,
            AccessCommand.class,
            KeysCommand.class,
            ClusterCommand.class,
            JournalCommand.class,
            ProfileCommand.class,
            CompletionCommand.class);

    JournalqCommand(Terminal terminal, Map<String, String> environment) {
        super(terminal, environment);
    }
}
