package io.journalq.cli.cluster;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.Admin;
import io.journalq.client.admin.QuorumDescription;
import io.journalq.client.admin.QuorumDescription.Voter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster remove-voter}. */
@Command(
        name = "remove-voter",
        description = {
            "Removes a stopped broker from those that vote on the metadata, so that fewer of the others are needed for a"
                    + " majority. It keeps its replicas.",
            "It votes again when it starts with cluster.join, or after journalq cluster add-voter. To remove a broker for"
                    + " good, use journalq cluster drain and remove."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq cluster remove-voter 3", "  journalq cluster remove-voter 3 --execute"})
final class RemoveVoterCommand extends ClientCommand {
    @Parameters(paramLabel = "BROKER", description = "Id of the broker.")
    private int id;

    @Option(names = "--execute", description = "Removes the voter. Without this option, nothing is changed.")
    private boolean execute;

    @Override
    protected void execute() {
        try (Admin admin = openAdmin()) {
            QuorumDescription quorum = admin.describeQuorum();
            Voter voter = quorum.voters().stream()
                    .filter(one -> one.brokerId() == id)
                    .findFirst()
                    .orElseThrow(() -> new CommandFailure("broker " + id + " does not vote; the voters are "
                            + ClusterState.ids(quorum.voters().stream()
                                    .map(Voter::brokerId)
                                    .toList())));
            if (admin.describeCluster().brokers().stream().anyMatch(broker -> broker.id() == id && !broker.fenced())) {
                throw new CommandFailure("broker " + id
                        + " is running, and a broker that does not vote gets no metadata;" + " stop it first");
            }
            if (execute) {
                admin.removeVoter(id, voter.directoryId());
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("broker", id);
            json.put("directory", voter.directoryId());
            json.put("removed", execute);
            json.put("votersLeft", left(quorum));
            report(
                    (execute ? "removed voter " : "voter to remove: ") + id + " with the directory "
                            + voter.directoryId(),
                    json);
        }
        if (!execute) {
            terminal().tell("Nothing was changed. To remove the voter, add --execute.");
        }
    }

    private List<Integer> left(QuorumDescription quorum) {
        return quorum.voters().stream()
                .map(Voter::brokerId)
                .filter(other -> other != id)
                .toList();
    }
}
