package io.journalq.bench.peer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.journalq.bench.driver.ChildProcess;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * A RabbitMQ server that this program starts, with the plugin for STOMP over WebSockets. Its queues are streams, which are
 * its fastest kind of queue that is on disk. One thread.
 */
public final class RabbitWebStomp implements WebSocketServer {
    private static final int START_TIMEOUT_S = 60;
    /** What the packages of Debian run, without the wrapper that changes the user. */
    private static final String PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server";

    private final Map<String, String> settings = new TreeMap<>();
    private final int port = LoopbackPorts.next();
    private final int epmdPort = LoopbackPorts.next();
    private final int webPort = LoopbackPorts.next();
    /** Where nodes of Erlang find each other. The server would start it, and leave it running. */
    private ChildProcess names;

    private ChildProcess process;
    private Connection admin;

    /** {@code extra} are further settings of the server, by its own names. */
    public RabbitWebStomp(Map<String, String> extra) {
        settings.put("listeners.tcp.local", "127.0.0.1:" + port);
        settings.put("stomp.listeners.tcp", "none");
        settings.put("web_stomp.tcp.ip", "127.0.0.1");
        settings.put("web_stomp.tcp.port", Integer.toString(webPort));
        settings.put("web_stomp.ws_frame", "binary");
        settings.putAll(extra);
    }

    @Override
    public Optional<String> missing() {
        return Files.isExecutable(program()) ? Optional.empty() : Optional.of(RabbitQuorumDriver.INSTALL);
    }

    private static Path program() {
        return Path.of(System.getenv().getOrDefault("RABBITMQ_SERVER", PROGRAM));
    }

    @Override
    public String about() {
        return "RabbitMQ " + admin.getServerProperties().get("version") + ", streams " + settings;
    }

    @Override
    public String address() {
        return "localhost:" + webPort;
    }

    @Override
    public void start() {
        names = new ChildProcess("epmd");
        names.start(List.of("epmd", "-port", Integer.toString(epmdPort)), () -> listens(epmdPort), START_TIMEOUT_S);
        process = new ChildProcess("rabbitmq");
        Path directory = process.directory();
        StringBuilder configuration = new StringBuilder();
        settings.forEach((name, value) ->
                configuration.append(name).append(" = ").append(value).append('\n'));
        try {
            Files.writeString(directory.resolve("rabbitmq.conf"), configuration);
            Files.writeString(directory.resolve("plugins"), "[rabbitmq_web_stomp].\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        process.start(
                List.of(
                        "env",
                        "HOME=" + directory,
                        "ERL_EPMD_PORT=" + epmdPort,
                        // Lets the script become the server, so that signals reach it.
                        "RUNNING_UNDER_SYSTEMD=1",
                        "RABBITMQ_NODENAME=bench@localhost",
                        "RABBITMQ_DIST_PORT=" + LoopbackPorts.next(),
                        "RABBITMQ_CONFIG_FILE=" + directory.resolve("rabbitmq.conf"),
                        "RABBITMQ_ENABLED_PLUGINS_FILE=" + directory.resolve("plugins"),
                        "RABBITMQ_MNESIA_BASE=" + directory.resolve("data"),
                        "RABBITMQ_LOGS=-",
                        program().toString()),
                () -> listens(webPort) && connects(),
                START_TIMEOUT_S);
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    private boolean connects() {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("localhost");
        factory.setPort(port);
        // The server is frozen while others are measured.
        factory.setRequestedHeartbeat(0);
        try {
            admin = factory.newConnection("journalq-bench");
            return true;
        } catch (IOException | TimeoutException notYet) {
            return false;
        }
    }

    @Override
    public long pid() {
        return process.pid();
    }

    /** Creates a stream. */
    @Override
    public String createTopic(String topic) {
        try (Channel channel = admin.createChannel()) {
            channel.queueDeclare(topic, true, false, false, Map.of("x-queue-type", "stream"));
            return topic;
        } catch (IOException | TimeoutException e) {
            throw RabbitServer.failed("create queue " + topic, e);
        }
    }

    @Override
    public void deleteTopic(String topic) {
        try (Channel channel = admin.createChannel()) {
            channel.queueDelete(topic);
        } catch (IOException | TimeoutException e) {
            throw RabbitServer.failed("delete queue " + topic, e);
        }
    }

    @Override
    public void settle() {
        process.settle();
    }

    @Override
    public void freeze() {
        process.signal("STOP");
    }

    @Override
    public void thaw() {
        process.signal("CONT");
    }

    @Override
    public void close() {
        if (admin != null) {
            thaw();
            admin.abort();
        }
        for (ChildProcess started : new ChildProcess[] {process, names}) {
            if (started != null) {
                started.close();
            }
        }
    }
}
