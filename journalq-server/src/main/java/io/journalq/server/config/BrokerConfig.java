package io.journalq.server.config;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The settings of a broker, each with its value and origin. Immutable. {@link BrokerConfigLoader} creates it. */
public final class BrokerConfig {
    /** The system property with the directory that contains bin, conf, and by default data and logs. Scripts set it. */
    public static final String HOME_PROPERTY = "journalq.home";

    private final Map<String, Setting> settingByName;

    /**
     * @param value as parsed by its key
     * @param origin where the value comes from
     */
    private record Setting(Object value, ConfigOrigin origin) {}

    private BrokerConfig(Map<String, Setting> settingByName) {
        this.settingByName = Collections.unmodifiableMap(settingByName);
    }

    /** Every setting at its default. */
    public static BrokerConfig defaults() {
        Map<String, Setting> settings = new LinkedHashMap<>();
        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            settings.put(key.name(), new Setting(key.defaultValue(), ConfigOrigin.DEFAULT));
        }
        return new BrokerConfig(settings);
    }

    /**
     * Returns a copy with one setting changed.
     *
     * @throws ConfigException when there is no such key, with the nearest one, or when the value is invalid
     */
    public BrokerConfig with(String name, String value, ConfigOrigin origin) throws ConfigException {
        String ours = KafkaNames.OF_BROKERS.ourName(name);
        if (!ours.equals(name)) {
            throw new ConfigException("'" + name + "' is Kafka's name for '" + ours + "': use that name");
        }
        if (name.equals(AccessSettings.KAFKA_AUTHORIZER)) {
            throw new ConfigException("'" + name + "' is not a setting here, because no setting names a class: set "
                    + AccessSettings.AUTHORIZATION_ENABLED.name()
                    + " to true. ACLs then decide as in Kafka's StandardAuthorizer");
        }
        Map<String, Setting> changed = new LinkedHashMap<>(settingByName);
        if (ListenerScope.isOne(name)) {
            ListenerScope scope = ListenerScope.parse(name);
            changed.put(scope.name(), new Setting(parse(scope.key(), name, value), origin));
        } else {
            changed.put(name, new Setting(BrokerSettings.ALL.get(name).parse(value), origin));
        }
        return new BrokerConfig(changed);
    }

    private static Object parse(ConfigKey<?> key, String name, String value) throws ConfigException {
        try {
            return key.parse(value);
        } catch (ConfigException wrong) {
            throw new ConfigException(name + ": " + wrong.getMessage());
        }
    }

    /** Returns a copy whose relative data directories and files are absolute, below {@code home}. */
    BrokerConfig inHome(Path home) {
        String name = BrokerSettings.DATA_DIRECTORIES.name();
        List<String> absolute = dataDirectories().stream()
                .map(directory ->
                        home.resolve(directory).toAbsolutePath().normalize().toString())
                .toList();
        Map<String, Setting> changed = new LinkedHashMap<>(settingByName);
        changed.put(name, new Setting(absolute, settingByName.get(name).origin()));
        for (Map.Entry<String, Setting> setting : settingByName.entrySet()) {
            if (isFile(setting.getKey()) && !setting.getValue().value().equals("")) {
                Path file = home.resolve((String) setting.getValue().value());
                changed.put(
                        setting.getKey(),
                        new Setting(
                                file.toAbsolutePath().normalize().toString(),
                                setting.getValue().origin()));
            }
        }
        return new BrokerConfig(changed);
    }

    private static boolean isFile(String name) {
        return ListenerSettings.FILES.stream()
                .map(ConfigKey::name)
                .anyMatch(key -> name.equals(key) || (ListenerScope.isOne(name) && name.endsWith("." + key)));
    }

    /** The value of {@code key}. */
    @SuppressWarnings("unchecked") // with() stores only what the key itself parsed
    public <T> T get(ConfigKey<T> key) {
        return (T) settingByName.get(key.name()).value();
    }

    /** The value of {@code key} for a listener: its own, or that of all listeners. */
    @SuppressWarnings("unchecked") // with() stores only what the key itself parsed
    public <T> T get(ConfigKey<T> key, String listenerName) {
        Setting own = settingByName.get(ListenerScope.nameOf(listenerName, key));
        return own == null ? get(key) : (T) own.value();
    }

    /** The names of listeners that have settings of their own. */
    Set<String> scopedListeners() {
        Set<String> names = new TreeSet<>();
        for (String name : settingByName.keySet()) {
            if (ListenerScope.isOne(name)) {
                names.add(ListenerScope.listenerOf(name));
            }
        }
        return names;
    }

    /** The value in its canonical text. */
    public String text(ConfigKey<?> key) {
        return key.format(settingByName.get(key.name()).value());
    }

    /** The origin of the value of {@code key}. */
    public ConfigOrigin origin(ConfigKey<?> key) {
        return settingByName.get(key.name()).origin();
    }

    /** Listeners to bind. */
    public List<ListenerAddress> listeners() {
        return addresses(ListenerSettings.LISTENERS);
    }

    /** Addresses to advertise; empty if the addresses of the listeners are advertised. */
    public List<ListenerAddress> advertisedListeners() {
        return addresses(ListenerSettings.ADVERTISED_LISTENERS);
    }

    /**
     * The address that clients of each listener are given. A listener that {@link #advertisedListeners} does not name
     * advertises its own address, and never that of another listener.
     *
     * @param bound the listeners, with the ports that they are bound to
     */
    public List<ListenerAddress> advertisedFor(List<ListenerAddress> bound) {
        List<ListenerAddress> advertised = advertisedListeners();
        return bound.stream()
                .map(listener -> advertised.stream()
                        .filter(address -> address.name().equals(listener.name()))
                        .findFirst()
                        .orElse(listener))
                .toList();
    }

    /**
     * The security protocol of a listener.
     *
     * @throws ConfigException when it is not known or not served, with a line for the operator
     */
    public SecurityProtocol securityProtocol(ListenerAddress listener) throws ConfigException {
        return ListenerProtocols.of(listener.name(), get(ListenerSettings.LISTENER_SECURITY_PROTOCOL_MAP));
    }

    /**
     * The mechanisms by which clients of a listener log in; empty if they need not.
     *
     * @throws ConfigException as {@link #securityProtocol}
     */
    public List<String> saslMechanisms(ListenerAddress listener) throws ConfigException {
        SecurityProtocol protocol = securityProtocol(listener);
        if (!protocol.usesSasl()) {
            return List.of();
        }
        return get(ListenerSettings.SASL_ENABLED_MECHANISMS, listener.name()).stream()
                .distinct()
                .filter(mechanism -> protocol.isEncrypted() || mechanism.startsWith("SCRAM-"))
                .toList();
    }

    /**
     * The same for clients of the HTTP gateway.
     *
     * @throws ConfigException as {@link #securityProtocol}
     */
    public List<String> gatewayMechanisms() throws ConfigException {
        return gatewayProtocol().usesSasl() ? saslMechanisms(gatewayListener().orElseThrow()) : List.of();
    }

    /**
     * Whether clients of a listener or of the HTTP gateway may log in with tokens.
     *
     * @throws ConfigException as {@link #securityProtocol}
     */
    public boolean acceptsTokens() throws ConfigException {
        for (ListenerAddress listener : listeners()) {
            if (saslMechanisms(listener).contains(ListenerSettings.TOKEN_MECHANISM)) {
                return true;
            }
        }
        return gatewayMechanisms().contains(ListenerSettings.TOKEN_MECHANISM);
    }

    /** The names of the encrypted listeners, also of the gateway, the admin listener and the metadata quorum. */
    Set<String> encryptedListeners() throws ConfigException {
        Set<String> names = new TreeSet<>();
        for (ListenerAddress listener : listeners()) {
            if (securityProtocol(listener).isEncrypted()) {
                names.add(listener.name());
            }
        }
        if (gatewayProtocol().isEncrypted()) {
            names.add(gatewayListener().orElseThrow().name());
        }
        if (adminProtocol().isEncrypted()) {
            names.add(adminListener().orElseThrow().name());
        }
        if (quorumProtocol().isEncrypted()) {
            names.add(quorumListener().orElseThrow().name());
        }
        return names;
    }

    /** The file that a setting names; null if it is empty. */
    public Path file(ConfigKey<String> key) {
        String text = get(key);
        return text.isEmpty() ? null : Path.of(text);
    }

    /** The file that a setting of a listener names; null if it is empty. */
    public Path file(ConfigKey<String> key, String listenerName) {
        String text = get(key, listenerName);
        return text.isEmpty() ? null : Path.of(text);
    }

    /** The files that a setting names, for all listeners together and for each one. */
    public Set<Path> files(ConfigKey<String> key) {
        Set<Path> files = new TreeSet<>();
        settingByName.forEach((name, setting) -> {
            boolean matches = name.equals(key.name()) || (ListenerScope.isOne(name) && name.endsWith("." + key.name()));
            if (matches && !setting.value().equals("")) {
                files.add(Path.of((String) setting.value()));
            }
        });
        return files;
    }

    /** Address of metrics and health; empty if they are not served. */
    public Optional<ListenerAddress> adminListener() {
        String text = get(ListenerSettings.ADMIN_LISTENER);
        return text.isEmpty() ? Optional.empty() : Optional.of(knownGood(text));
    }

    /** Address at which the broker votes on the metadata; empty if it has a metadata log of its own. */
    public Optional<ListenerAddress> quorumListener() {
        String text = get(ListenerSettings.QUORUM_LISTENER);
        return text.isEmpty() ? Optional.empty() : Optional.of(knownGood(text));
    }

    /**
     * Address at which the other brokers reach {@link #quorumListener}: that of {@link #advertisedListeners} with its
     * name, unless the name is that of a listener of clients too.
     */
    public Optional<ListenerAddress> advertisedQuorumListener() {
        return quorumListener()
                .map(quorum -> listeners().stream()
                                .anyMatch(listener -> listener.name().equals(quorum.name()))
                        ? quorum
                        : advertisedFor(List.of(quorum)).get(0));
    }

    /** The security protocol of the metadata quorum. An address without the name of a listener is that of a plain one. */
    public SecurityProtocol quorumProtocol() throws ConfigException {
        return protocolOf(get(ListenerSettings.QUORUM_LISTENER));
    }

    /** Address of the HTTP gateway; empty if there is none. */
    public Optional<ListenerAddress> gatewayListener() {
        String text = get(ListenerSettings.GATEWAY_LISTENER);
        return text.isEmpty() ? Optional.empty() : Optional.of(knownGood(text));
    }

    /**
     * The security protocol of the HTTP gateway. An address without the name of a listener is that of a plain one.
     *
     * @throws ConfigException as {@link #securityProtocol}
     */
    public SecurityProtocol gatewayProtocol() throws ConfigException {
        return protocolOf(get(ListenerSettings.GATEWAY_LISTENER));
    }

    /** The same for the admin listener. */
    public SecurityProtocol adminProtocol() throws ConfigException {
        return protocolOf(get(ListenerSettings.ADMIN_LISTENER));
    }

    private SecurityProtocol protocolOf(String address) throws ConfigException {
        return address.contains("://") ? securityProtocol(knownGood(address)) : SecurityProtocol.PLAINTEXT;
    }

    /** Addresses of brokers of the cluster that a broker without data joins; empty for a broker that begins one. */
    public List<ListenerAddress> clusterJoin() {
        return addresses(ListenerSettings.CLUSTER_JOIN);
    }

    /** The name of the listener at which the brokers of a cluster reach each other. */
    public String interBrokerListenerName() {
        String name = get(ListenerSettings.INTER_BROKER_LISTENER_NAME);
        return name.isEmpty() ? listeners().get(0).name() : name;
    }

    /** The address that this broker registers for other brokers. */
    public ListenerAddress interBrokerAddress() {
        String name = interBrokerListenerName();
        return advertisedFor(listeners()).stream()
                .filter(address -> address.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Directories of the journals, at least one. */
    public List<Path> dataDirectories() {
        return get(BrokerSettings.DATA_DIRECTORIES).stream().map(Path::of).toList();
    }

    /** The settings of a topic without overrides. */
    public TopicConfig topicDefaults() {
        return TopicConfig.of(this, Map.of());
    }

    private List<ListenerAddress> addresses(ConfigKey<List<String>> key) {
        return get(key).stream().map(BrokerConfig::knownGood).toList();
    }

    private static ListenerAddress knownGood(String text) {
        try {
            return ListenerAddress.parse(text);
        } catch (ConfigException impossible) {
            throw new IllegalStateException("the key accepted an invalid listener", impossible);
        }
    }
}
