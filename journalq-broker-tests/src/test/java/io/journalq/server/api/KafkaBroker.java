package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.journalq.server.broker.WireClient;
import io.journalq.server.process.LoopbackPorts;
import io.netty.buffer.Unpooled;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * A broker of Kafka in this process, which is its own controller, with {@link StandardAuthorizer}. Its users are root,
 * who may do everything, and ada. Clients of its plain listener are strangers.
 */
final class KafkaBroker implements RightsMatrix.Broker, AutoCloseable {
    private static final String LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
            + " username=\"root\" password=\"root\" user_root=\"root\" user_ada=\"ada\";";
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int POLL_MS = 5;

    private final int loginPort = LoopbackPorts.next();
    private final int plainPort = LoopbackPorts.next();
    private final Path logs;
    private final KafkaRaftServer server;
    private final Map<String, WireClient> clients = new HashMap<>();

    KafkaBroker(Path directory) throws Exception {
        logs = directory.resolve("kafka");
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setNodeId(1)
                .setClusterId(Uuid.randomUuid().toString())
                .setReleaseVersion(MetadataVersion.latestProduction())
                .setControllerListenerName("CONTROLLER")
                .setMetadataLogDirectory(logs.toString())
                .addDirectory(logs.toString())
                .run();
        server = new KafkaRaftServer(new KafkaConfig(settings()), Time.SYSTEM);
        server.startup();
        awaitCoordinators();
    }

    private Map<String, String> settings() throws IOException {
        int controllerPort = LoopbackPorts.next();
        Map<String, String> settings = new TreeMap<>();
        settings.put("process.roles", "broker,controller");
        settings.put("node.id", "1");
        settings.put("log.dirs", logs.toString());
        settings.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        settings.put("controller.listener.names", "CONTROLLER");
        settings.put("inter.broker.listener.name", "LOGIN");
        settings.put(
                "listeners",
                "LOGIN://127.0.0.1:" + loginPort + ",PLAIN://127.0.0.1:" + plainPort + ",CONTROLLER://127.0.0.1:"
                        + controllerPort);
        settings.put(
                "listener.security.protocol.map", "LOGIN:SASL_PLAINTEXT,PLAIN:PLAINTEXT,CONTROLLER:SASL_PLAINTEXT");
        settings.put("sasl.enabled.mechanisms", "PLAIN");
        settings.put("listener.name.login.sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256");
        settings.put(
                "listener.name.login.scram-sha-256.sasl.jaas.config",
                "org.apache.kafka.common.security.scram.ScramLoginModule required;");
        settings.put("sasl.mechanism.inter.broker.protocol", "PLAIN");
        settings.put("sasl.mechanism.controller.protocol", "PLAIN");
        settings.put("listener.name.login.plain.sasl.jaas.config", LOGIN);
        settings.put("listener.name.controller.plain.sasl.jaas.config", LOGIN);
        settings.put("authorizer.class.name", StandardAuthorizer.class.getName());
        settings.put("super.users", "User:root");
        settings.put("auto.create.topics.enable", "false");
        settings.put("offsets.topic.num.partitions", "1");
        settings.put("offsets.topic.replication.factor", "1");
        settings.put("transaction.state.log.num.partitions", "1");
        settings.put("transaction.state.log.replication.factor", "1");
        settings.put("transaction.state.log.min.isr", "1");
        settings.put("group.initial.rebalance.delay.ms", "0");
        return settings;
    }

    private void awaitCoordinators() throws Exception {
        long deadlineNanos = System.nanoTime() + START_NANOS;
        for (byte type = 0; type <= 1; type++) {
            FindCoordinatorRequest request =
                    new FindCoordinatorRequest().setKey("x").setKeyType(type);
            while (((FindCoordinatorResponse) ask("root", "127.0.0.1", request, 3)).errorCode() != 0) {
                if (System.nanoTime() > deadlineNanos) {
                    throw new IllegalStateException("Kafka has no coordinator after 60 s");
                }
                Thread.sleep(POLL_MS);
            }
        }
    }

    /** The versions of the APIs that it serves, lowest and highest, by the id of the API. */
    Map<Integer, int[]> versions() throws Exception {
        Map<Integer, int[]> versions = new TreeMap<>();
        ApiVersionsResponse response = (ApiVersionsResponse) ask(null, "127.0.0.1", new ApiVersionsRequest(), 0);
        response.apiKeys()
                .forEach(api -> versions.put((int) api.apiKey(), new int[] {api.minVersion(), api.maxVersion()}));
        return versions;
    }

    /** The address at which users log in. */
    String bootstrap() {
        return "127.0.0.1:" + loginPort;
    }

    /** The settings of a Kafka client that logs in. */
    Map<String, Object> clientSettings(String user) {
        return Map.of(
                "bootstrap.servers",
                bootstrap(),
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "PLAIN",
                "sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + user + "\" password=\""
                        + user + "\";");
    }

    /** The file with the metadata of the cluster. */
    Path metadataLog() {
        return logs.resolve("__cluster_metadata-0").resolve("00000000000000000000.log");
    }

    @Override
    public ApiMessage ask(String user, String host, ApiMessage request, int version) throws Exception {
        String key = user + "@" + host;
        WireClient client = clients.get(key);
        if (client == null) {
            client = connect(user, host);
            clients.put(key, client);
        }
        try {
            return client.call(ApiMessage.class, request, version);
        } catch (EOFException | SocketException closed) {
            clients.remove(key).close();
            return null;
        } catch (SocketTimeoutException silent) {
            throw new IOException("Kafka does not respond to " + request.apiKey() + " v" + version, silent);
        }
    }

    private WireClient connect(String user, String host) throws IOException {
        int port = user == null ? plainPort : loginPort;
        byte lastNumber = Byte.parseByte(host.substring(host.lastIndexOf('.') + 1));
        InetAddress from = InetAddress.getByAddress(new byte[] {127, 0, 0, lastNumber});
        WireClient client = new WireClient(new Socket(InetAddress.getLoopbackAddress(), port, from, 0));
        if (user != null) {
            client.call(SaslHandshakeResponse.class, new SaslHandshakeRequest().setMechanism("PLAIN"), 1);
            String password = "\0" + user + "\0" + user;
            SaslAuthenticateResponse response = client.call(
                    SaslAuthenticateResponse.class,
                    new SaslAuthenticateRequest().setAuthBytes(Unpooled.copiedBuffer(password, StandardCharsets.UTF_8)),
                    2);
            if (response.errorCode() != 0) {
                throw new IOException("Kafka refuses the login of " + user);
            }
        }
        return client;
    }

    @Override
    public void awaitAcls(int count) throws Exception {
        DescribeAclsRequest all = new DescribeAclsRequest()
                .setResourceTypeFilter((byte) 1)
                .setPatternTypeFilter((byte) 1)
                .setResourceNameFilter(null)
                .setPrincipalFilter(null)
                .setHostFilter(null)
                .setOperation((byte) 1)
                .setPermissionType((byte) 1);
        while (((DescribeAclsResponse) ask("root", "127.0.0.1", all, 3))
                        .resources().stream()
                                .map(DescribeAclsResponse.DescribeAclsResource::acls)
                                .mapToInt(List::size)
                                .sum()
                != count) {
            Thread.sleep(POLL_MS);
        }
    }

    @Override
    public void close() throws IOException {
        for (WireClient client : clients.values()) {
            client.close();
        }
        server.shutdown();
        server.awaitShutdown();
    }
}
