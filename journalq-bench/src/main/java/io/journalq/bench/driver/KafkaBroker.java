package io.journalq.bench.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;

/**
 * Apache Kafka in processes with broker and controller, with newly formatted storage in a temporary directory. It has
 * its default settings, the JVM options of its start script, and a heap of 1 GB unless another is chosen.
 */
public final class KafkaBroker extends SpawnedBroker {
    private static final int FORMAT_TIMEOUT_S = 60;
    private static final int START_TIMEOUT_S = 120;
    private static final int RESPONSE_TIMEOUT_MS = 2_000;
    /** The default of Kafka's start script. */
    private static final String HEAP = "1g";
    /** The options of Kafka's start script. */
    private static final List<String> JVM_OPTIONS = List.of(
            "-server",
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=20",
            "-XX:InitiatingHeapOccupancyPercent=35",
            "-XX:+ExplicitGCInvokesConcurrent",
            "-Djava.awt.headless=true",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");

    private static final int COMPACT_HEADERS_SINCE = 25;
    private static final int NATIVE_ACCESS_SINCE = 24;
    private static final int UNSAFE_WARNINGS_SINCE = 23;

    /** Settings that differ between the brokers of a cluster. */
    private static final Set<String> OF_EACH_BROKER =
            Set.of("node.id", "listeners", "advertised.listeners", "controller.quorum.voters", "log.dirs");

    /** Without an ACL for a resource, everybody may use it. */
    private static final Map<String, String> RIGHTS = Map.of(
            "authorizer.class.name",
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found",
            "true",
            "super.users",
            "User:ANONYMOUS");

    private static final String SESSION_TIMEOUT = "broker.session.timeout.ms";

    private final Map<String, String> extra;

    /** {@code extra} are additional settings of the broker, by its own names. */
    public KafkaBroker(Map<String, String> extra) {
        this(ClusterShape.SINGLE, extra);
    }

    /** As {@link #KafkaBroker(Map)}, for a cluster. */
    public KafkaBroker(ClusterShape shape, Map<String, String> extra) {
        this(shape, extra, false);
    }

    private KafkaBroker(ClusterShape shape, Map<String, String> extra, boolean secured) {
        super(shape, secured, extra, OF_EACH_BROKER);
        this.extra = Map.copyOf(extra);
    }

    /** A broker that also has listeners with TLS and with logins, and to which ACLs can be added. */
    public static KafkaBroker secured() {
        return new KafkaBroker(ClusterShape.SINGLE, RIGHTS, true);
    }

    @Override
    public String name() {
        return "kafka";
    }

    @Override
    public String version() {
        return KafkaArtifacts.version();
    }

    @Override
    void startNodes(List<SpawnedNode> all) {
        String classPath = KafkaArtifacts.classPath();
        String clusterId = Uuid.randomUuid().toString();
        for (SpawnedNode node : all) {
            Path properties = writeProperties(node, all, properties());
            format(node, classPath, clusterId, properties);
            node.process().launch(command(classPath, "kafka.Kafka", properties.toString()));
        }
        for (SpawnedNode node : all) {
            node.process().await(() -> responds(node, all.size(), RESPONSE_TIMEOUT_MS), START_TIMEOUT_S);
        }
    }

    @Override
    Optional<String> metricsAddress(SpawnedNode node) {
        return Optional.empty();
    }

    private void format(SpawnedNode node, String classPath, String clusterId, Path properties) {
        List<String> format =
                command(classPath, "kafka.tools.StorageTool", "format", "-t", clusterId, "-c", properties.toString());
        if (keys() != null) {
            format.add("--add-scram");
            format.add("SCRAM-SHA-256=[name=" + BrokerKeys.USER + ",password=" + BrokerKeys.PASSWORD + "]");
        }
        node.process().run(format, FORMAT_TIMEOUT_S);
    }

    private List<String> command(String classPath, String mainClass, String... arguments) {
        List<String> command = java();
        command.addAll(List.of("-Xmx" + shape().heap(HEAP), "-Xms" + shape().heap(HEAP)));
        command.addAll(JVM_OPTIONS);
        command.addAll(List.of("-cp", classPath, mainClass));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The first words of a command: Java, and the options of bin/lib/journalq-env.sh for its version. */
    private static List<String> java() {
        int version = Runtime.version().feature();
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        if (version >= COMPACT_HEADERS_SINCE) {
            command.add("-XX:+UseCompactObjectHeaders");
        }
        if (version >= NATIVE_ACCESS_SINCE) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        if (version >= UNSAFE_WARNINGS_SINCE) {
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        return command;
    }

    /** Restores the default session timeout: with a long one, the controller would refuse the successor of a killed broker. */
    @Override
    void prepareRestart(SpawnedNode node, List<SpawnedNode> all) {
        Map<String, String> settings = properties();
        settings.remove(SESSION_TIMEOUT);
        writeProperties(node, all, settings);
    }

    private Path writeProperties(SpawnedNode node, List<SpawnedNode> all, Map<String, String> settings) {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", Integer.toString(node.id()));
        properties.put(
                "controller.quorum.voters",
                all.stream()
                        .map(one -> one.id() + "@localhost:" + one.quorumPort())
                        .collect(Collectors.joining(",")));
        properties.put("listeners", node.listeners(keys() != null) + ",CONTROLLER://localhost:" + node.quorumPort());
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("log.dirs", node.dataDirectory().toString());
        if (keys() != null) {
            properties.put("listener.security.protocol.map", SECURED_LISTENERS + ",CONTROLLER:PLAINTEXT");
            properties.put("ssl.keystore.type", "PKCS12");
            properties.put("ssl.keystore.location", keys().keystore().toString());
            properties.put("ssl.keystore.password", BrokerKeys.PASSWORD);
            properties.put("listener.name.rsa.ssl.keystore.type", "PKCS12");
            properties.put(
                    "listener.name.rsa.ssl.keystore.location",
                    keys().rsaKeystore().toString());
            properties.put("listener.name.rsa.ssl.keystore.password", BrokerKeys.PASSWORD);
            properties.put("sasl.enabled.mechanisms", "SCRAM-SHA-256");
            properties.put(
                    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config",
                    "org.apache.kafka.common.security.scram.ScramLoginModule required;");
        }
        properties.putAll(settings);
        try {
            return Files.writeString(
                    node.process().directory().resolve("server.properties"),
                    properties.entrySet().stream()
                            .map(entry -> entry.getKey() + "=" + entry.getValue() + "\n")
                            .collect(Collectors.joining()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = properties();
        settings.put("heap", shape().heap(HEAP));
        return settings;
    }

    private Map<String, String> properties() {
        Map<String, String> settings = new TreeMap<>(shape().brokerSettings());
        // The defaults need three brokers.
        settings.put("offsets.topic.replication.factor", Integer.toString(shape().replicas()));
        settings.put("transaction.state.log.replication.factor", Integer.toString(shape().replicas()));
        settings.put("transaction.state.log.min.isr", Integer.toString(shape().minInSync()));
        // A frozen broker must not be considered dead. This does not affect performance.
        settings.put(SESSION_TIMEOUT, "3600000");
        // A deleted topic must be gone before the next run. This does not affect performance.
        settings.put("log.segment.delete.delay.ms", "500");
        settings.putAll(extra);
        return settings;
    }
}
