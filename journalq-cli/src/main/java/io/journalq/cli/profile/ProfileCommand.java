package io.journalq.cli.profile;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Profile;
import io.journalq.cli.shell.Profiles;
import io.journalq.cli.shell.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code journalq profile}. */
@Command(
        name = "profile",
        description = "Names brokers, so that --profile NAME can replace --bootstrap HOST:PORT and the options for"
                + " TLS and the login.",
        subcommands = {ProfileCommand.Add.class, ProfileCommand.ListAll.class, ProfileCommand.Remove.class})
public final class ProfileCommand extends CommandGroup {
    /** {@code journalq profile add}. */
    @Command(
            name = "add",
            description = {
                "Adds a profile, or replaces an existing one. The broker does not have to be running.",
                "The profile contains the address, the --tls options, the user, and the paths of the files, but not"
                        + " their content.",
                "Profiles are stored in journalq/profiles in the directory XDG_CONFIG_HOME (default: ~/.config)."
            },
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq profile add prod --bootstrap broker1.example.com:9092",
                "  journalq profile add local --bootstrap localhost:9092",
                "  journalq profile add secure --bootstrap broker1:9093 --tls-ca authority.pem",
                "  journalq profile add ada --bootstrap host1:9094 --user ada --password-file pw"
            })
    static final class Add extends ClientCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the profile: letters, digits, '.', '_' and '-'.")
        private String name;

        @Override
        protected void execute() throws IOException {
            if (!Profiles.isName(name)) {
                throw wrongUsage("'" + name + "' is not a name; use letters, digits, '.', '_' and '-'");
            }
            String address = program().givenBootstrap();
            if (address == null) {
                throw wrongUsage("specify the address of the broker: --bootstrap HOST:PORT");
            }
            Profile profile =
                    new Profile(address, program().givenTls(), program().givenSasl());
            boolean changed = program().profiles().put(name, profile);
            Map<String, Object> json = jsonOf(name, profile);
            report((changed ? "changed" : "added") + " profile " + name + ": " + address, json);
        }
    }

    /** {@code journalq profile list}. */
    @Command(
            name = "list",
            description = "Lists the profiles.",
            footerHeading = "%nExamples:%n",
            footer = {"  journalq profile list", "  journalq profile list --output json"})
    static final class ListAll extends ClientCommand {
        @Override
        protected void execute() throws IOException {
            SortedMap<String, Profile> profiles = program().profiles().all();
            if (wantsJson()) {
                List<Object> json = new ArrayList<>();
                profiles.forEach((name, profile) -> json.add(jsonOf(name, profile)));
                terminal().printLine(Json.document(json));
                return;
            }
            Table table = new Table("PROFILE", "BOOTSTRAP", "TLS", "USER");
            profiles.forEach((name, profile) -> table.row(name, profile.bootstrap(), tlsOf(profile), userOf(profile)));
            table.printTo(terminal());
        }
    }

    private static Map<String, Object> jsonOf(String name, Profile profile) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("profile", name);
        json.put("bootstrap", profile.bootstrap());
        json.put("tls", profile.tls() == null ? null : profile.tls().properties());
        json.put("sasl", profile.sasl() == null ? null : profile.sasl().properties());
        return json;
    }

    private static String userOf(Profile profile) {
        if (profile.sasl() == null) {
            return "no";
        }
        return profile.sasl().user() == null ? "of a token" : profile.sasl().user();
    }

    private static String tlsOf(Profile profile) {
        if (profile.tls() == null) {
            return "no";
        }
        return profile.tls().certificate() == null ? "yes" : "with certificate";
    }

    /** {@code journalq profile remove}. */
    @Command(
            name = "remove",
            description = "Removes a profile.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq profile remove prod")
    static final class Remove extends ClientCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the profile.")
        private String name;

        @Override
        protected void execute() throws IOException {
            if (!program().profiles().remove(name)) {
                throw new CommandFailure(
                        "there is no profile " + name + "; to list all profiles, run journalq profile list");
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("profile", name);
            json.put("removed", true);
            report("removed profile " + name, json);
        }
    }
}
