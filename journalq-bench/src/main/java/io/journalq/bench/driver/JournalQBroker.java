package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.server.broker.OfflineUsers;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.process.BrokerCommand;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * JournalQ in a separate process, started by its script if there is one, with its default settings and its data in a
 * temporary directory.
 */
public final class JournalQBroker extends SpawnedBroker {
    private static final int START_TIMEOUT_S = 120;
    private static final int RESPONSE_TIMEOUT_MS = 5_000;
    /** The default of bin/journalq-server. */
    private static final String HEAP = "512m";

    private static final String ADMIN = "admin.listener";
    /** Without an ACL for a resource, everybody may use it. */
    private static final Map<String, String> RIGHTS = Map.of(
            "authorization.enabled", "true", "allow.everyone.if.no.acl.found", "true", "super.users", "User:ANONYMOUS");
    /** Settings that differ between the brokers of a cluster. */
    private static final Set<String> OF_EACH_BROKER = Set.of(
            "node.id",
            "listeners",
            "advertised.listeners",
            "quorum.listener",
            "cluster.join",
            ADMIN,
            "gateway.listener",
            "data.directories");

    private final Map<String, String> extra;
    private final boolean hasMetrics;

    /** {@code extra} are additional settings of the broker, by its own names. */
    public JournalQBroker(Map<String, String> extra) {
        this(ClusterShape.SINGLE, extra);
    }

    /** As {@link #JournalQBroker(Map)}, for a cluster. */
    public JournalQBroker(ClusterShape shape, Map<String, String> extra) {
        this(shape, extra, false, false);
    }

    private JournalQBroker(ClusterShape shape, Map<String, String> extra, boolean hasMetrics, boolean secured) {
        super(shape, secured, extra, OF_EACH_BROKER);
        this.extra = Map.copyOf(extra);
        this.hasMetrics = hasMetrics;
    }

    /** A broker with metrics that also has listeners with TLS and with logins, and to which ACLs can be added. */
    public static JournalQBroker secured() {
        return new JournalQBroker(ClusterShape.SINGLE, RIGHTS, true, true);
    }

    /** A broker that serves metrics at a free port, unless {@code extra} sets the address. */
    public static JournalQBroker withMetrics(Map<String, String> extra) {
        return withMetrics(ClusterShape.SINGLE, extra);
    }

    /** As {@link #withMetrics(Map)}, for a cluster. */
    public static JournalQBroker withMetrics(ClusterShape shape, Map<String, String> extra) {
        return new JournalQBroker(shape, extra, true, false);
    }

    /** A broker with metrics and the HTTP gateway, both at free ports unless {@code extra} sets their addresses. */
    public static JournalQBroker withGateway(Map<String, String> extra) {
        Map<String, String> settings = new TreeMap<>(extra);
        settings.putIfAbsent("gateway.listener", "localhost:" + LoopbackPorts.next());
        return withMetrics(settings);
    }

    /** The {@code host:port} of the HTTP gateway; null if there is none. */
    public String gatewayAddress() {
        return extra.get("gateway.listener");
    }

    private void encryptGateway(Map<String, String> settings) {
        String address = settings.get("gateway.listener");
        if (encryptsClients() && !address.isEmpty() && !address.contains("://")) {
            settings.put("gateway.listener", "SSL://" + address);
        }
    }

    @Override
    public String name() {
        return "journalq";
    }

    @Override
    public String version() {
        String version = JournalQBroker.class.getPackage().getImplementationVersion();
        return version == null ? "this checkout" : version;
    }

    @Override
    void startNodes(List<SpawnedNode> all) {
        for (SpawnedNode node : all) {
            // Each joins when those before it are there.
            node.process()
                    .start(command(node, all), () -> responds(node, node.id(), RESPONSE_TIMEOUT_MS), START_TIMEOUT_S);
        }
    }

    private List<String> command(SpawnedNode node, List<SpawnedNode> all) {
        List<String> started = new ArrayList<>(BrokerCommand.inForeground(shape().heap(HEAP), List.of()));
        Map<String, String> settings = new TreeMap<>();
        settings.put("listeners", node.listeners(keys() != null));
        settings.put(ADMIN, metricsAddress(node).orElse(""));
        settings.put("gateway.listener", "");
        settings.put("data.directories", node.dataDirectory().toString());
        if (keys() != null) {
            settings.put("ssl.keystore.location", keys().keystore().toString());
            settings.put("ssl.keystore.password.file", keys().passwordFile().toString());
            settings.put("listener.security.protocol.map", SECURED_LISTENERS);
            settings.put(
                    "listener.name.rsa.ssl.keystore.location",
                    keys().rsaKeystore().toString());
            addUser(settings.get("data.directories"));
        }
        if (shape().isCluster()) {
            settings.put("node.id", Integer.toString(node.id()));
            settings.put("quorum.listener", "localhost:" + node.quorumPort());
            settings.put("cluster.join", node == all.get(0) ? "" : all.get(0).address(false));
        }
        settings.putAll(shape().brokerSettings());
        settings.putAll(extra);
        encryptGateway(settings);
        settings.forEach((name, value) -> started.addAll(List.of("--set", name + "=" + value)));
        return started;
    }

    private void addUser(String dataDirectory) {
        try {
            new OfflineUsers(BrokerConfig.defaults().with("data.directories", dataDirectory, ConfigOrigin.COMMAND_LINE))
                    .add(BrokerKeys.USER, BrokerKeys.PASSWORD.getBytes(StandardCharsets.UTF_8));
        } catch (ConfigException | IOException e) {
            throw new BenchException("cannot add a user to the broker", "check the temporary directory", e);
        }
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>(shape().brokerSettings());
        settings.putAll(extra);
        settings.put("heap", shape().heap(HEAP));
        return settings;
    }

    @Override
    Optional<String> metricsAddress(SpawnedNode node) {
        return Optional.ofNullable(extra.getOrDefault(ADMIN, hasMetrics ? "localhost:" + node.adminPort() : null))
                .filter(address -> !address.isEmpty());
    }
}
