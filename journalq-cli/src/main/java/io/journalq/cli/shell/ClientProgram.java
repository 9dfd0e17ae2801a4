package io.journalq.cli.shell;

import io.journalq.client.Admin;
import io.journalq.client.ClientBuilder;
import io.journalq.client.security.SaslConfig;
import io.journalq.client.security.TlsConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
            names = "--tls",
            scope = ScopeType.INHERIT,
            description = "Encrypts the connection. The certificate of the broker must be signed by an authority that "
                    + "Java trusts, or by one in --tls-ca.")
    private boolean tls;

    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "PEM file with the certificates of the authorities to trust. Implies --tls.")
    private Path tlsAuthorities;

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description =
                    "PEM file with the certificate to present to the broker, and its private key unless --tls-key "
                            + "names another file. Implies --tls.")
    private Path tlsCertificate;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "PEM file with the private key of --tls-cert.")
    private Path tlsKey;

    @Option(
            names = "--tls-key-password-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "File with the password of the private key.")
    private Path tlsKeyPasswordFile;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            description = "Logs in as this user. Needs --password-file.")
    private String user;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "File with the password of --user.")
    private Path passwordFile;

    @Option(
            names = "--sasl-mechanism",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            description = "How --user logs in: SCRAM-SHA-256, SCRAM-SHA-512, or PLAIN, which needs --tls (default: "
                    + "SCRAM-SHA-256).")
    private String saslMechanism;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "Logs in with the token in this file (OAUTHBEARER), instead of --user. Needs --tls.")
    private Path tokenFile;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            scope = ScopeType.INHERIT,
            defaultValue = "table",
            description = "Output format: table for people, json for programs (default: table).")
    private OutputFormat output = OutputFormat.TABLE;

    private final Terminal terminal;
    private final Map<String, String> environment;
    /** The broker that has responded; null if none has yet. A command may open several clients. */
    private Target reached;

    /**
     * What a command connects to.
     *
     * @param tls null if the connections are not encrypted
     * @param sasl null if the commands do not log in
     */
    private record Target(String bootstrap, TlsConfig tls, SaslConfig sasl) {}

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
        if (reached == null) {
            Profile profileOrOptions = broker();
            TlsOptions tlsOptions = profileOrOptions.tls();
            SaslOptions saslOptions = profileOrOptions.sasl();
            Target target = new Target(
                    profileOrOptions.bootstrap(),
                    tlsOptions == null ? null : tlsOptions.read(),
                    saslOptions == null ? null : saslOptions.read());
            BrokerProbe.reach(addresses(target.bootstrap()), target.tls(), target.sasl());
            reached = target;
        }
        if (reached.tls() != null) {
            builder.tls(reached.tls());
        }
        if (reached.sasl() != null) {
            builder.sasl(reached.sasl());
        }
        return builder.bootstrapServers(reached.bootstrap())
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

    /**
     * The TLS options, with absolute paths, after checking that the files can be used; null if there are none.
     *
     * @throws CommandFailure when a file cannot be used
     */
    public TlsOptions givenTls() {
        TlsOptions given = tlsOptions();
        if (given == null) {
            return null;
        }
        given.read();
        return given.absolute();
    }

    /**
     * The options of the login, with an absolute path, after checking that the file can be read; null if there are
     * none.
     *
     * @throws CommandFailure when the file cannot be used
     */
    public SaslOptions givenSasl() {
        SaslOptions given = saslOptions();
        if (given == null) {
            return null;
        }
        given.read();
        return given.absolute();
    }

    private SaslOptions saslOptions() {
        if (tokenFile != null) {
            return tokenOptions();
        }
        if ((user == null) != (passwordFile == null) || (user == null && saslMechanism != null)) {
            throw new ParameterException(commandLine(), "a login needs both --user and --password-file");
        }
        if (user == null) {
            return null;
        }
        String mechanism = saslMechanism == null ? SaslOptions.SCRAM_SHA_256 : saslMechanism.toUpperCase(Locale.ROOT);
        if (mechanism.equals(SaslOptions.OAUTHBEARER)) {
            throw new ParameterException(
                    commandLine(), "--sasl-mechanism OAUTHBEARER has no password; use --token-file");
        }
        if (mechanism.equals(SaslOptions.PLAIN) && tlsOptions() == null) {
            throw new ParameterException(
                    commandLine(), "--sasl-mechanism PLAIN sends the password, and needs --tls or --tls-ca");
        }
        return new SaslOptions(mechanism, user, passwordFile);
    }

    private SaslOptions tokenOptions() {
        if (user != null || passwordFile != null || saslMechanism != null) {
            throw new ParameterException(
                    commandLine(),
                    "--token-file says who the user is; use it without --user, --password-file and"
                            + " --sasl-mechanism");
        }
        if (tlsOptions() == null) {
            throw new ParameterException(commandLine(), "--token-file sends the token, and needs --tls or --tls-ca");
        }
        return SaslOptions.ofToken(tokenFile);
    }

    private TlsOptions tlsOptions() {
        if (tlsCertificate == null && tlsKey != null) {
            throw new ParameterException(commandLine(), "--tls-key needs --tls-cert, the certificate of the key");
        }
        if (tlsCertificate == null && tlsKeyPasswordFile != null) {
            throw new ParameterException(
                    commandLine(), "--tls-key-password-file needs --tls-cert, the certificate of the key");
        }
        return tls || tlsAuthorities != null || tlsCertificate != null
                ? new TlsOptions(tlsAuthorities, tlsCertificate, tlsKey, tlsKeyPasswordFile)
                : null;
    }

    /** Options win over the environment, and an address over a profile. */
    private Profile broker() {
        Profile given = new Profile(null, tlsOptions(), saslOptions());
        if (bootstrap != null && profile != null) {
            throw new ParameterException(commandLine(), "--bootstrap and --profile are mutually exclusive");
        }
        if (bootstrap != null) {
            return at(bootstrap, given);
        }
        if (profile != null) {
            return profileOf(profile, given);
        }
        String address = environment.getOrDefault("JOURNALQ_BOOTSTRAP", "");
        String name = environment.getOrDefault("JOURNALQ_PROFILE", "");
        if (!address.isEmpty()) {
            return at(address, given);
        }
        return name.isEmpty() ? at(DEFAULT_BOOTSTRAP, given) : profileOf(name, given);
    }

    private static Profile at(String address, Profile given) {
        return new Profile(address, given.tls(), given.sasl());
    }

    private Profile profileOf(String name, Profile given) {
        if (given.tls() != null || given.sasl() != null) {
            throw new ParameterException(
                    commandLine(),
                    "a profile and options for TLS or the login are mutually exclusive; change the profile with"
                            + " journalq profile add "
                            + name);
        }
        return profiles().get(name);
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
