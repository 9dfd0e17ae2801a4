package io.journalq.cli.cluster;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.QuorumDescription;
import io.journalq.client.admin.QuorumDescription.Voter;
import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code journalq cluster quorum}. */
@Command(
        name = "quorum",
        description = "Shows the brokers that vote on the metadata, and how far each of them is.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq cluster quorum", "  journalq cluster quorum --output json"})
final class QuorumCommand extends ClientCommand {
    @Override
    protected void execute() {
        QuorumDescription quorum;
        try (Admin admin = openAdmin()) {
            quorum = admin.describeQuorum();
        }
        long end = quorum.voters().stream().mapToLong(Voter::logEndOffset).max().orElse(0);
        if (wantsJson()) {
            terminal().printLine(Json.document(jsonOf(quorum, end)));
            return;
        }
        terminal()
                .printLine("Controller " + quorum.leaderId() + "  epoch " + quorum.leaderEpoch() + "  "
                        + Quantity.count(quorum.voters().size(), "voter") + "  "
                        + Quantity.count(quorum.highWatermark()) + " entries committed");
        Table table = new Table("VOTER", "ROLE", "DIRECTORY", "END", "LAG");
        for (Voter voter : quorum.voters()) {
            table.row(
                    voter.brokerId(),
                    voter.brokerId() == quorum.leaderId() ? "controller" : "follower",
                    voter.directoryId().equals(Uuid.ZERO) ? null : voter.directoryId(),
                    voter.logEndOffset() < 0 ? null : voter.logEndOffset(),
                    voter.logEndOffset() < 0 ? null : end - voter.logEndOffset());
        }
        table.printTo(terminal());
    }

    private static Map<String, Object> jsonOf(QuorumDescription quorum, long end) {
        List<Object> voters = new ArrayList<>();
        for (Voter voter : quorum.voters()) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("id", voter.brokerId());
            json.put("directory", voter.directoryId());
            json.put("logEndOffset", voter.logEndOffset());
            json.put("lag", voter.logEndOffset() < 0 ? null : end - voter.logEndOffset());
            voters.add(json);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("controller", quorum.leaderId());
        json.put("epoch", quorum.leaderEpoch());
        json.put("highWatermark", quorum.highWatermark());
        json.put("voters", voters);
        return json;
    }
}
