package io.journalq.cli.cluster;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.client.Admin;
import io.journalq.common.id.Uuid;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster add-voter}. */
@Command(
        name = "add-voter",
        description = {
            "Adds a running broker to those that vote on the metadata. Brokers add themselves when they join, or when they"
                    + " start with cluster.join after they were removed; others wait for this command.",
            "journalq cluster quorum shows the directories of voters. That of a broker is the name of the only directory in"
                    + " its data directory, below quorum."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq cluster add-voter 3 ow-_li2Q5kL3AWDA-S-fCQ 10.0.0.7:9093"})
final class AddVoterCommand extends ClientCommand {
    private static final Pattern LISTENER = Pattern.compile("(\\[[^\\]]+\\]|[^:\\[\\]]+):(\\d{1,5})");
    private static final int MAX_PORT = 65_535;

    @Parameters(index = "0", paramLabel = "BROKER", description = "Id of the broker.")
    private int id;

    @Parameters(index = "1", paramLabel = "DIRECTORY", description = "Id of its directory.")
    private String directory;

    @Parameters(index = "2", paramLabel = "HOST:PORT", description = "Its quorum.listener.")
    private String listener;

    @Option(names = "--execute", description = "Adds the voter. Without this option, nothing is changed.")
    private boolean execute;

    @Override
    protected void execute() {
        Uuid directoryId = directoryId(directory);
        Matcher address = LISTENER.matcher(listener);
        if (!address.matches() || port(address) < 1 || port(address) > MAX_PORT) {
            throw wrongUsage("'" + listener + "' is not a host and a port, such as 10.0.0.7:9093");
        }
        String host = address.group(1).replaceAll("^\\[|\\]$", "");
        try (Admin admin = openAdmin()) {
            if (execute) {
                admin.addVoter(id, directoryId, host, port(address));
            } else {
                admin.describeQuorum();
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("broker", id);
        json.put("added", execute);
        report((execute ? "added voter " : "voter to add: ") + id, json);
        if (!execute) {
            terminal().tell("Nothing was changed. To add the voter, add --execute.");
        }
    }

    private Uuid directoryId(String text) {
        try {
            return Uuid.parse(text);
        } catch (IllegalArgumentException malformed) {
            throw wrongUsage("'" + text + "' is not the id of a directory, such as ow-_li2Q5kL3AWDA-S-fCQ");
        }
    }

    private static int port(Matcher address) {
        return Integer.parseInt(address.group(2));
    }
}
