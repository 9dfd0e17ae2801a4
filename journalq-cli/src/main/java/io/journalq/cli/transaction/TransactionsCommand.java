package io.journalq.cli.transaction;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.TransactionDescription;
import io.journalq.client.admin.TransactionListing;
import io.journalq.common.id.TopicPartition;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq transactions}. */
@Command(
        name = "transactions",
        description = "Lists and describes transactions, and aborts those that were left open.",
        subcommands = {
            TransactionsCommand.ListAll.class,
            TransactionsCommand.Describe.class,
            TransactionsCommand.Abort.class
        })
public final class TransactionsCommand extends CommandGroup {
    private static final String OPEN = "Ongoing";

    /** {@code journalq transactions list}. */
    @Command(
            name = "list",
            description = "Lists transactional ids with the state of their transactions.",
            footerHeading = "%nExamples:%n",
            footer = {"  journalq transactions list", "  journalq transactions list --state Ongoing"})
    static final class ListAll extends ClientCommand {
        @Option(
                names = "--state",
                paramLabel = "STATE",
                description = "Only transactional ids in this state, such as Ongoing or Empty.")
        private String state;

        @Override
        protected void execute() {
            List<TransactionListing> transactions;
            try (Admin admin = openAdmin()) {
                transactions = admin.listTransactions().stream()
                        .filter(found -> state == null || found.state().equalsIgnoreCase(state))
                        .toList();
            }
            if (wantsJson()) {
                List<Object> json = new ArrayList<>();
                for (TransactionListing found : transactions) {
                    Map<String, Object> one = new LinkedHashMap<>();
                    one.put("transactionalId", found.transactionalId());
                    one.put("state", found.state());
                    one.put("producerId", found.producerId());
                    json.add(one);
                }
                terminal().printLine(Json.document(json));
                return;
            }
            Table table = new Table("TRANSACTIONAL ID", "STATE", "PRODUCER ID");
            transactions.forEach(found -> table.row(found.transactionalId(), found.state(), found.producerId()));
            table.printTo(terminal());
        }
    }

    /** {@code journalq transactions describe}. */
    @Command(
            name = "describe",
            description = "Shows transactional ids with the age and the partitions of their open transactions.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq transactions describe billing-1",
                "  journalq transactions describe billing-1 --output json"
            })
    static final class Describe extends ClientCommand {
        @Parameters(arity = "1..*", paramLabel = "TRANSACTIONAL-ID", description = "The transactional ids.")
        private List<String> ids;

        @Override
        protected void execute() {
            List<Object> json = new ArrayList<>();
            try (Admin admin = openAdmin()) {
                for (String id : ids) {
                    TransactionDescription found = admin.describeTransaction(id);
                    if (wantsJson()) {
                        json.add(jsonOf(found));
                    } else {
                        print(found);
                    }
                }
            }
            if (wantsJson()) {
                terminal().printLine(Json.document(json));
            }
        }

        private void print(TransactionDescription found) {
            terminal()
                    .printLine(Terminal.printable(
                            "Transactional id " + found.transactionalId() + "  " + found.state() + "  producer "
                                    + found.producerId() + "  epoch " + found.producerEpoch() + "  timeout "
                                    + Quantity.duration(found.timeout())
                                    + (found.startedMs() < 0
                                            ? ""
                                            : "  open for "
                                                    + Quantity.duration(Duration.ofMillis(Math.max(
                                                            0, Clock.systemUTC().millis() - found.startedMs()))))));
            if (!found.partitions().isEmpty()) {
                Table table = new Table("TOPIC", "PARTITION");
                found.partitions().forEach(partition -> table.row(partition.topic(), partition.partition()));
                table.printTo(terminal());
            }
        }

        private static Map<String, Object> jsonOf(TransactionDescription found) {
            List<Object> partitions = new ArrayList<>();
            for (TopicPartition written : found.partitions()) {
                Map<String, Object> partition = new LinkedHashMap<>();
                partition.put("topic", written.topic());
                partition.put("partition", written.partition());
                partitions.add(partition);
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("transactionalId", found.transactionalId());
            json.put("state", found.state());
            json.put("producerId", found.producerId());
            json.put("producerEpoch", found.producerEpoch());
            json.put("timeoutMs", found.timeout().toMillis());
            json.put("startedMs", found.startedMs() < 0 ? null : found.startedMs());
            json.put("partitions", partitions);
            return json;
        }
    }

    /** {@code journalq transactions abort}. */
    @Command(
            name = "abort",
            description = {
                "Aborts the open transaction of a transactional id, so that consumers of committed messages can read"
                        + " past it. The producer is fenced: what it sends from then on is rejected.",
                "Without --execute, only shows the transaction."
            },
            footerHeading = "%nExamples:%n",
            footer = "  journalq transactions abort billing-1 --execute")
    static final class Abort extends ClientCommand {
        @Parameters(paramLabel = "TRANSACTIONAL-ID", description = "The transactional id.")
        private String id;

        @Option(names = "--execute", description = "Applies the changes. Without this option, nothing is changed.")
        private boolean execute;

        @Override
        protected void execute() {
            TransactionDescription found;
            try (Admin admin = openAdmin()) {
                found = admin.describeTransaction(id);
                if (!found.state().equals(OPEN)) {
                    throw new CommandFailure("transactional id " + id + " has no open transaction; its state is "
                            + found.state() + ", so there is nothing to abort");
                }
                if (execute) {
                    admin.abortTransaction(found);
                }
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("transactionalId", id);
            json.put("executed", execute);
            json.put("partitions", found.partitions().size());
            report(
                    (execute ? "aborted" : "would abort") + " the transaction of " + id + ", which wrote to "
                            + Quantity.count(found.partitions().size(), "partition"),
                    json);
            if (!execute) {
                terminal().tell("Nothing was changed. To abort the transaction, add --execute.");
            }
        }
    }
}
