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

    private final Map<String, String> extra;

    /** {@code extra} are additional settings of the broker, by its own names. */
    public JournalQBroker(Map<String, String> extra) {
        this(extra, false);
    }

    private JournalQBroker(Map<String, String> extra, boolean secured) {
        super(secured);
        this.extra = Map.copyOf(extra);
    }

    /** A broker that also has listeners with TLS and with logins. */
    public static JournalQBroker secured(Map<String, String> extra) {
        return new JournalQBroker(extra, true);
    }

    /** A broker that serves metrics at a free port, unless {@code extra} sets the address. */
    public static JournalQBroker withMetrics(Map<String, String> extra) {
        Map<String, String> settings = new TreeMap<>(extra);
        settings.putIfAbsent("admin.listener", "localhost:" + LoopbackPorts.next());
        return new JournalQBroker(settings);
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
            node.process().start(command(node), () -> responds(node, RESPONSE_TIMEOUT_MS), START_TIMEOUT_S);
        }
    }

    private List<String> command(SpawnedNode node) {
        List<String> started = new ArrayList<>(BrokerCommand.inForeground(HEAP, List.of()));
        Map<String, String> settings = new TreeMap<>();
        settings.put("listeners", node.listeners(keys() != null));
        settings.put("admin.listener", "");
        settings.put("gateway.listener", "");
        settings.put("data.directories", node.dataDirectory().toString());
        if (keys() != null) {
            settings.put("ssl.keystore.location", keys().keystore().toString());
            settings.put("ssl.keystore.password.file", keys().passwordFile().toString());
            addUser(settings.get("data.directories"));
        }
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
        Map<String, String> settings = new TreeMap<>(extra);
        settings.put("heap", HEAP);
        return settings;
    }

    @Override
    Optional<String> metricsAddress(SpawnedNode node) {
        return Optional.ofNullable(extra.get("admin.listener")).filter(address -> !address.isEmpty());
    }
}
