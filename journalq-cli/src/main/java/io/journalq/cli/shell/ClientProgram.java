package io.journalq.cli.shell;

import io.journalq.client.Admin;
import io.journalq.client.ClientBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/**
 * A program whose commands connect to a broker. Has the options for the broker and the output format. Used for one run.
 */
public abstract class ClientProgram extends CommandGroup implements Program {
    private static final int REACH_TIMEOUT_MS = 3_000;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(20);
    private static final Pattern ADDRESS = Pattern.compile("(?:\\[([^]]+)]|([^:\\s,]+)):(\\d{1,5})");

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            scope = ScopeType.INHERIT,
            defaultValue = "${env:JOURNALQ_BOOTSTRAP:-localhost:9092}",
            description = "Address of the broker, or several separated by commas (default: "
                    + "JOURNALQ_BOOTSTRAP from the environment, or localhost:9092).")
    private String bootstrap = "localhost:9092";

    @Option(
            names = "--output",
            paramLabel = "table|json",
            scope = ScopeType.INHERIT,
            defaultValue = "table",
            description = "Output format: table for people, json for programs (default: table).")
    private OutputFormat output = OutputFormat.TABLE;

    private final Terminal terminal;

    /** Creates a program with these streams. */
    protected ClientProgram(Terminal terminal) {
        this.terminal = terminal;
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

    /** Configures a client for the broker, after checking that a program is listening there. */
    public <B extends ClientBuilder<B>> B configure(B builder) {
        reachBroker();
        return builder.bootstrapServers(bootstrap)
                .clientId("journalq-cli")
                .connectTimeout(CONNECT_TIMEOUT)
                .callTimeout(CALL_TIMEOUT);
    }

    /**
     * Fails immediately if no program is listening. A client would retry for a long time, which does not help a user
     * who mistyped the port.
     */
    private void reachBroker() {
        if (addresses().stream().anyMatch(ClientProgram::answers)) {
            return;
        }
        throw new CommandFailure("no broker responds at " + bootstrap
                + "; start one with bin/journalq-server start, or set the address with --bootstrap");
    }

    private static boolean answers(InetSocketAddress address) {
        try (Socket socket = new Socket()) {
            socket.connect(address, REACH_TIMEOUT_MS);
            return true;
        } catch (IOException unreachable) {
            return false;
        }
    }

    private List<InetSocketAddress> addresses() {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (String part : bootstrap.split(",", -1)) {
            Matcher matcher = ADDRESS.matcher(part.strip());
            if (!matcher.matches() || Integer.parseInt(matcher.group(3)) > 65_535) {
                throw new ParameterException(commandLine(), "--bootstrap '" + part + "' is not of the form host:port");
            }
            String host = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
            addresses.add(new InetSocketAddress(host, Integer.parseInt(matcher.group(3))));
        }
        return addresses;
    }
}
