package io.journalq.cli.shell;

import io.journalq.client.Admin;
import io.journalq.client.ClientBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/**
 * A program whose commands connect to a broker. Has the options for the broker and the output format. Used for one run.
 */
public abstract class ClientProgram extends CommandGroup implements Program {
    /** The format of results: for people or for programs. */
    public enum OutputFormat {
        TABLE,
        JSON;

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(20);
    private static final String DEFAULT_BOOTSTRAP = "localhost:9092";
    private static final Pattern ADDRESS = Pattern.compile("(?:\\[([^]]+)]|([^:\\s,]+)):(\\d{1,5})");

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            scope = ScopeType.INHERIT,
            description = "Address of the broker, or several separated by commas (default: that of --profile, "
                    + "JOURNALQ_BOOTSTRAP from the environment, or localhost:9092).")
    private String bootstrap;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            description = "The broker of this profile; see journalq profile --help (default: JOURNALQ_PROFILE from the "
                    + "environment).")
    private String profile;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            scope = ScopeType.INHERIT,
            defaultValue = "table",
            description = "Output format: table for people, json for programs (default: table).")
    private OutputFormat output = OutputFormat.TABLE;

    private final Terminal terminal;
    private final Map<String, String> environment;
    /** Whether a broker has responded. A command may open several clients. */
    private boolean reached;

    /** Creates a program with these streams and environment variables. */
    protected ClientProgram(Terminal terminal, Map<String, String> environment) {
        this.terminal = terminal;
        this.environment = environment;
    }

    @Override
    public Terminal terminal() {
        return terminal;
    }

    public boolean wantsJson() {
        return output == OutputFormat.JSON;
    }

    /** Returns an admin for the broker; the caller closes it. */
    public Admin openAdmin() {
        return configure(Admin.builder()).build();
    }

    /** Configures a client for the broker, after checking that a broker responds there. */
    public <B extends ClientBuilder<B>> B configure(B builder) {
        String servers = bootstrapServers();
        if (!reached) {
            BrokerProbe.reach(addresses(servers));
            reached = true;
        }
        return builder.bootstrapServers(servers)
                .clientId("journalq-cli")
                .connectTimeout(CONNECT_TIMEOUT)
                .callTimeout(CALL_TIMEOUT);
    }

    /** The profiles of this user. */
    public Profiles profiles() {
        return new Profiles(Profiles.fileOf(environment));
    }

    /** The addresses that {@code --bootstrap} gives; null if it is not given. */
    public String givenBootstrap() {
        if (bootstrap != null) {
            addresses(bootstrap);
        }
        return bootstrap;
    }

    /** Options win over the environment, and an address over a profile. */
    private String bootstrapServers() {
        if (bootstrap != null && profile != null) {
            throw new ParameterException(commandLine(), "--bootstrap and --profile are mutually exclusive");
        }
        if (bootstrap != null) {
            return bootstrap;
        }
        if (profile != null) {
            return profiles().bootstrapOf(profile);
        }
        String address = environment.getOrDefault("JOURNALQ_BOOTSTRAP", "");
        String name = environment.getOrDefault("JOURNALQ_PROFILE", "");
        if (!address.isEmpty()) {
            return address;
        }
        return name.isEmpty() ? DEFAULT_BOOTSTRAP : profiles().bootstrapOf(name);
    }

    private List<BrokerProbe.Address> addresses(String servers) {
        List<BrokerProbe.Address> addresses = new ArrayList<>();
        for (String part : servers.split(",", -1)) {
            Matcher matcher = ADDRESS.matcher(part.strip());
            if (!matcher.matches() || Integer.parseInt(matcher.group(3)) > 65_535) {
                throw new ParameterException(commandLine(), "--bootstrap '" + part + "' is not of the form host:port");
            }
            String host = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
            addresses.add(new BrokerProbe.Address(host, Integer.parseInt(matcher.group(3))));
        }
        return addresses;
    }
}
