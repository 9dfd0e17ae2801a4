package io.journalq.server.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Loads the settings of a broker: the command line overrides the environment, which overrides the file, which overrides
 * the defaults.
 */
public final class BrokerConfigLoader {
    /** In the environment, {@code fetch.max.bytes} is {@code JOURNALQ_FETCH_MAX_BYTES}. */
    public static final String ENVIRONMENT_PREFIX = "JOURNALQ_";

    /** Variables that the scripts use themselves. */
    private static final List<String> SCRIPT_VARIABLES = List.of(
            "JOURNALQ_HEAP",
            "JOURNALQ_OPTS",
            "JOURNALQ_HOME",
            "JOURNALQ_JAVA_HOME",
            "JOURNALQ_CLASSPATH",
            "JOURNALQ_LOGBACK",
            "JOURNALQ_LOG_LEVEL",
            "JOURNALQ_LOG_DIR",
            "JOURNALQ_BOOTSTRAP",
            "JOURNALQ_PROFILE");

    /**
     * Variables that Kubernetes sets for services called journalq or journalq-something, such as JOURNALQ_PORT_9092_TCP
     * and JOURNALQ_CONSOLE_SERVICE_HOST.
     */
    private static final Pattern SERVICE_VARIABLES =
            Pattern.compile("JOURNALQ_(\\w+_)?(SERVICE_(HOST|PORT).*|PORT_\\d+_(TCP|UDP|SCTP).*)|JOURNALQ_PORT");

    /** Another of these, JOURNALQ_CONSOLE_PORT, has an address, which the value of no setting like that would have. */
    private static final Pattern SERVICE_ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");

    private static final String PKCS12 = "PKCS12";

    private BrokerConfigLoader() {}

    /**
     * Loads settings. Relative data directories are relative to the home directory, if there is one.
     *
     * @param file a YAML file of dotted keys; null for none
     * @param environment the variables of the process; only those with the prefix are used
     * @param assignments {@code key=value}, in order
     * @throws ConfigException names the key, its origin, the fault and a valid value
     */
    public static BrokerConfig load(Path file, Map<String, String> environment, List<String> assignments)
            throws ConfigException {
        BrokerConfig config = BrokerConfig.defaults();
        if (file != null) {
            config = withFile(config, file);
        }
        config = withEnvironment(config, environment);
        for (String assignment : assignments) {
            int equals = assignment.indexOf('=');
            if (equals <= 0) {
                // Without the text, which may be a secret.
                throw new ConfigException("--set must be followed by key=value");
            }
            config = at(
                    "--set",
                    config,
                    assignment.substring(0, equals).strip(),
                    assignment.substring(equals + 1),
                    ConfigOrigin.COMMAND_LINE);
        }
        String home = System.getProperty(BrokerConfig.HOME_PROPERTY);
        if (home != null) {
            config = config.inHome(Path.of(home));
        }
        checkTogether(config);
        return config;
    }

    /**
     * Checks that combine several settings.
     *
     * @throws ConfigException when the settings contradict each other
     */
    public static void checkTogether(BrokerConfig config) throws ConfigException {
        Set<String> names = new TreeSet<>();
        for (ListenerAddress listener : config.listeners()) {
            if (!names.add(listener.name())) {
                throw new ConfigException(
                        "listeners: two listeners are called " + listener.name() + "; give each its own name");
            }
            if (config.saslMechanisms(listener).isEmpty()
                    && config.securityProtocol(listener).usesSasl()) {
                throw new ConfigException("sasl.enabled.mechanisms: listener " + listener.name()
                        + " is not encrypted, so that only SCRAM is offered; add SCRAM-SHA-256, or use SASL_SSL");
            }
        }
        if (config.acceptsTokens()) {
            checkTokens(config);
        }
        Set<String> advertisable = new TreeSet<>(names);
        config.quorumListener().ifPresent(quorum -> advertisable.add(quorum.name()));
        Set<String> advertised = new TreeSet<>();
        for (ListenerAddress address : config.advertisedListeners()) {
            if (!advertisable.contains(address.name())) {
                throw new ConfigException("advertised.listeners: no listener is called " + address.name()
                        + "; listeners names " + String.join(", ", names));
            }
            if (!advertised.add(address.name())) {
                throw new ConfigException("advertised.listeners: two addresses are called " + address.name());
            }
            if (address.bindsEveryInterface()) {
                throw new ConfigException(
                        "advertised.listeners: '" + address + "' has no host that a client could connect to");
            }
        }
        if (config.gatewayProtocol() == SecurityProtocol.SASL_PLAINTEXT) {
            throw new ConfigException("gateway.listener: clients of the HTTP gateway log in by sending their passwords"
                    + " or tokens; use a name whose protocol is SASL_SSL");
        }
        if (config.adminProtocol().usesSasl()) {
            throw new ConfigException("admin.listener: its clients do not log in by SASL; use a name whose protocol is"
                    + " SSL, with which users log in by HTTP Basic");
        }
        Set<String> encrypted = config.encryptedListeners();
        for (String name : encrypted) {
            checkTls(config, name);
        }
        for (String name : config.scopedListeners()) {
            if (!encrypted.contains(name) && !names.contains(name)) {
                throw new ConfigException("listener.name." + name.toLowerCase(Locale.ROOT) + ": no listener is called "
                        + name + "; listeners names " + String.join(", ", names));
            }
        }
        checkGroupTimes(config);
        if (config.quorumListener().isPresent()) {
            checkOfCluster(config);
        } else if (!config.clusterJoin().isEmpty()) {
            throw new ConfigException(
                    "cluster.join is set, and quorum.listener is not; a broker that joins a cluster votes"
                            + " on its metadata, so set quorum.listener to an address of this broker");
        }
        Set<Path> directories = new TreeSet<>();
        for (Path directory : config.dataDirectories()) {
            if (!directories.add(directory.toAbsolutePath().normalize())) {
                throw new ConfigException("data.directories: '" + directory + "' is named twice");
            }
        }
    }

    /**
     * Checks that members of the consumer protocol send heartbeats before they are removed. Also for settings that are
     * changed while the broker runs.
     *
     * @throws ConfigException when they do not
     */
    public static void checkGroupTimes(BrokerConfig config) throws ConfigException {
        int heartbeatMs = config.get(CoordinatorSettings.GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS);
        int sessionMs = config.get(CoordinatorSettings.GROUP_CONSUMER_SESSION_TIMEOUT_MS);
        if (heartbeatMs >= sessionMs) {
            throw new ConfigException("group.consumer.heartbeat.interval.ms: " + heartbeatMs
                    + " must be less than group.consumer.session.timeout.ms (" + sessionMs
                    + "), because members without a heartbeat for that time are removed");
        }
    }

    private static void checkOfCluster(BrokerConfig config) throws ConfigException {
        List<ListenerAddress> addresses = config.advertisedFor(config.listeners());
        for (ListenerAddress address : addresses) {
            if (address.port() == 0) {
                throw new ConfigException("listeners: '" + address + "' has no fixed port, and a broker with"
                        + " quorum.listener registers its addresses before it opens them; choose a port");
            }
        }
        if (config.quorumProtocol().usesSasl()) {
            throw new ConfigException(
                    "quorum.listener: voters do not log in; use a name whose protocol is SSL or PLAINTEXT");
        }
        if (config.advertisedQuorumListener().orElseThrow().bindsEveryInterface()) {
            throw new ConfigException("quorum.listener: '" + config.text(ListenerSettings.QUORUM_LISTENER)
                    + "' has no host at which other brokers could reach this one; give it a name of its own, as"
                    + " NAME://host:port, and set advertised.listeners for that name");
        }
        String name = config.interBrokerListenerName();
        ListenerAddress forBrokers = addresses.stream()
                .filter(address -> address.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException("inter.broker.listener.name: no listener is called " + name));
        if (config.securityProtocol(forBrokers).usesSasl()) {
            throw new ConfigException(
                    "inter.broker.listener.name: brokers do not log in at each other, so the listener " + name
                            + " must have the security protocol SSL, with ssl.client.auth=required, or PLAINTEXT");
        }
        boolean closed = config.securityProtocol(forBrokers).isEncrypted()
                && config.quorumProtocol().isEncrypted();
        for (ListenerAddress listener : config.listeners()) {
            if (config.securityProtocol(listener).usesSasl() && !closed) {
                throw new ConfigException("listeners: clients log in at " + listener + ", and anybody who reaches the"
                        + " other brokers could pretend to be such a client; use the security protocol SSL for"
                        + " inter.broker.listener.name and quorum.listener");
            }
        }
        checkCertificatesOfBrokers(config, "inter.broker.listener.name", name, config.securityProtocol(forBrokers));
        checkCertificatesOfBrokers(
                config, "quorum.listener", config.quorumListener().orElseThrow().name(), config.quorumProtocol());
        if (forBrokers.bindsEveryInterface()) {
            throw new ConfigException("listeners: '" + forBrokers + "' has no host at which other brokers could reach"
                    + " this one; set advertised.listeners");
        }
    }

    private static void checkTokens(BrokerConfig config) throws ConfigException {
        for (ConfigKey<?> key : List.of(
                TokenSettings.JWKS_ENDPOINT_URL, TokenSettings.EXPECTED_ISSUER, TokenSettings.EXPECTED_AUDIENCE)) {
            if (config.text(key).isEmpty()) {
                throw new ConfigException(key.name() + ": must be set, because a listener offers OAUTHBEARER");
            }
        }
    }

    private static void checkCertificatesOfBrokers(
            BrokerConfig config, String setting, String listener, SecurityProtocol protocol) throws ConfigException {
        if (protocol.isEncrypted()
                && !config.get(ListenerSettings.SSL_CLIENT_AUTH, listener).equals("required")) {
            throw new ConfigException(setting + ": brokers prove by certificates who they are; set listener.name."
                    + listener.toLowerCase(Locale.ROOT) + ".ssl.client.auth=required");
        }
    }

    private static void checkTls(BrokerConfig config, String name) throws ConfigException {
        demand(config, name, ListenerSettings.SSL_KEYSTORE_LOCATION, "is encrypted");
        if (config.get(ListenerSettings.SSL_KEYSTORE_TYPE, name).equals(PKCS12)) {
            demand(config, name, ListenerSettings.SSL_KEYSTORE_PASSWORD_FILE, "has ssl.keystore.type=PKCS12");
        }
        if (!config.get(ListenerSettings.SSL_CLIENT_AUTH, name).equals("none")) {
            demand(config, name, ListenerSettings.SSL_TRUSTSTORE_LOCATION, "has another ssl.client.auth than none");
            if (config.get(ListenerSettings.SSL_TRUSTSTORE_TYPE, name).equals(PKCS12)) {
                demand(config, name, ListenerSettings.SSL_TRUSTSTORE_PASSWORD_FILE, "has ssl.truststore.type=PKCS12");
            }
        }
    }

    private static void demand(BrokerConfig config, String listener, ConfigKey<String> key, String reason)
            throws ConfigException {
        if (config.file(key, listener) == null) {
            throw new ConfigException(key.name() + ": must be set, because listener " + listener + " " + reason);
        }
    }

    private static BrokerConfig withFile(BrokerConfig config, Path file) throws ConfigException {
        BrokerConfig changed = config;
        for (ConfigFile.Line line : ConfigFile.read(file)) {
            changed = at(line.place(), changed, line.name(), line.value(), ConfigOrigin.FILE);
        }
        return changed;
    }

    private static BrokerConfig withEnvironment(BrokerConfig config, Map<String, String> environment)
            throws ConfigException {
        BrokerConfig changed = config;
        List<String> variables = environment.keySet().stream()
                .filter(variable -> variable.startsWith(ENVIRONMENT_PREFIX)
                        && !SCRIPT_VARIABLES.contains(variable)
                        && !isOfService(variable, environment.get(variable)))
                .sorted()
                .toList();
        for (String variable : variables) {
            String name = variable.substring(ENVIRONMENT_PREFIX.length())
                    .toLowerCase(Locale.ROOT)
                    .replace('_', '.');
            changed = at(variable, changed, name, environment.get(variable), ConfigOrigin.ENVIRONMENT);
        }
        return changed;
    }

    private static boolean isOfService(String variable, String value) {
        return SERVICE_VARIABLES.matcher(variable).matches()
                || (variable.endsWith("_PORT") && SERVICE_ADDRESS.matcher(value).matches());
    }

    private static BrokerConfig at(String where, BrokerConfig config, String name, String value, ConfigOrigin origin)
            throws ConfigException {
        try {
            return config.with(name, value, origin);
        } catch (ConfigException wrong) {
            throw new ConfigException(where + ": " + wrong.getMessage());
        }
    }
}
