package io.journalq.cli;

import io.journalq.cli.group.GroupsCommand;
import io.journalq.cli.journal.JournalCommand;
import io.journalq.cli.message.ConsumeCommand;
import io.journalq.cli.message.ProduceCommand;
import io.journalq.cli.shell.ClientProgram;
import io.journalq.cli.shell.Terminal;
import io.journalq.cli.topic.ClusterCommand;
import io.journalq.cli.topic.ConfigsCommand;
import io.journalq.cli.topic.TopicsCommand;
import io.journalq.cli.transaction.TransactionsCommand;
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
