package io.journalq.server.cli;

import io.journalq.server.cli.group.GroupsCommand;
import io.journalq.server.cli.journal.JournalCommand;
import io.journalq.server.cli.message.ConsumeCommand;
import io.journalq.server.cli.message.ProduceCommand;
import io.journalq.server.cli.shell.ClientProgram;
import io.journalq.server.cli.shell.Terminal;
import io.journalq.server.cli.topic.ClusterCommand;
import io.journalq.server.cli.topic.ConfigsCommand;
import io.journalq.server.cli.topic.TopicsCommand;
import io.journalq.server.cli.transaction.TransactionsCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** {@code journalq}: what all of its commands have in common, above all the broker that they talk to. */
@Command(
        name = "journalq",
        description =
                "Looks after topics, groups and transactions, and writes and reads messages, of a broker that speaks the "
                        + "Kafka protocol.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        subcommands = {
            TopicsCommand.class,
            ProduceCommand.class,
            ConsumeCommand.class,
            GroupsCommand.class,
            TransactionsCommand.class,
            ConfigsCommand.class,
            ClusterCommand.class,
            JournalCommand.class,
            CompletionCommand.class
        },
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:failed; one line on standard error says why", "2:wrong usage"})
final class JournalqCommand extends ClientProgram {
    JournalqCommand(Terminal terminal) {
        super(terminal);
    }
}
