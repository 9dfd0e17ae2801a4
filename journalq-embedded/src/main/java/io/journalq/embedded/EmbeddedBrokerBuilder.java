package io.journalq.embedded;

import io.journalq.server.broker.Broker;
import io.journalq.server.broker.OfflineUsers;
import io.journalq.server.broker.StartException;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The settings of an embedded broker. Not thread-safe. {@link #start} can be called several times, and starts a new
 * broker each time.
 */
public final class EmbeddedBrokerBuilder {
    /** The name of the data directory of a broker in memory. The directory is never created. */
    private static final String MEMORY = "memory";

    private BrokerConfig config = BrokerConfig.defaults();
    private final Map<String, byte[]> users = new LinkedHashMap<>();
    private Path directory;
    private boolean memoryOnly;

    EmbeddedBrokerBuilder() {
        set("listeners", "PLAINTEXT://127.0.0.1:0");
        set("admin.listener", "");
        set("gateway.listener", "");
        // A test has few clients and needs its first response soon. So the broker starts little, opens little, and does
        // not wait for group members.
        set("shards", "1");
        set("offsets.topic.num.partitions", "1");
        set("group.initial.rebalance.delay.ms", "0");
        set("shutdown.timeout.ms", "1000");
    }

    /**
     * Sets a broker setting that {@code conf/journalq.yaml} documents.
     *
     * @throws IllegalArgumentException if the setting does not exist (the message contains the closest name) or the
     *     value is invalid
     */
    public EmbeddedBrokerBuilder set(String name, String value) {
        try {
            config = config.with(name, value, ConfigOrigin.COMMAND_LINE);
            return this;
        } catch (ConfigException wrong) {
            throw new IllegalArgumentException(wrong.getMessage(), wrong);
        }
    }

    /**
     * Creates a user with a password, or gives it another one, before the broker starts. The user logs in by SCRAM at the
     * listeners of SASL_SSL and SASL_PLAINTEXT that {@code set("listeners", …)} names. A broker in memory cannot have
     * users.
     */
    public EmbeddedBrokerBuilder user(String name, char[] password) {
        ByteBuffer encoded = StandardCharsets.UTF_8.encode(CharBuffer.wrap(password));
        byte[] utf8 = new byte[encoded.remaining()];
        encoded.get(utf8);
        users.put(name, utf8);
        return this;
    }

    /** Keeps all data in memory. The broker does not use a disk, and its data is lost when it is closed. */
    public EmbeddedBrokerBuilder inMemory() {
        memoryOnly = true;
        directory = null;
        return this;
    }

    /**
     * Keeps the data in this directory, which is not deleted. A broker that is started there later finds the data.
     *
     * @throws IllegalArgumentException if the path contains a comma, which separates data directories
     */
    public EmbeddedBrokerBuilder inDirectory(Path directory) {
        if (directory.toString().contains(",")) {
            throw new IllegalArgumentException("the path " + directory + " contains a comma; choose another directory");
        }
        this.directory = directory;
        memoryOnly = false;
        return this;
    }

    /**
     * Starts a broker. When this method returns, clients can connect.
     *
     * @throws IllegalStateException if the broker cannot start; the message contains the reason, and all resources are
     *     released
     * @throws UncheckedIOException if no temporary directory can be created
     */
    public EmbeddedBroker start() {
        if (memoryOnly) {
            if (!users.isEmpty()) {
                throw new IllegalStateException("a broker in memory cannot have users; leave inMemory() out");
            }
            set("data.directories", MEMORY);
            return start(null, () -> Broker.startInMemory(config));
        }
        Path temporary = directory == null ? temporaryDirectory() : null;
        return start(temporary, () -> {
            set("data.directories", (directory == null ? temporary : directory).toString());
            addUsers();
            return Broker.start(config);
        });
    }

    private void addUsers() {
        try {
            for (Map.Entry<String, byte[]> user : users.entrySet()) {
                new OfflineUsers(config).add(user.getKey(), user.getValue());
            }
        } catch (IOException refused) {
            throw new IllegalStateException(refused.getMessage(), refused);
        }
    }

    /** @param temporary is deleted if the start fails; may be null */
    static EmbeddedBroker start(Path temporary, Start start) {
        boolean started = false;
        try {
            EmbeddedBroker broker = new EmbeddedBroker(start.start(), temporary);
            started = true;
            return broker;
        } catch (StartException | IllegalStateException refused) {
            throw new IllegalStateException(refused.getMessage(), refused);
        } finally {
            // Also after other failures, such as a user with an invalid name.
            if (!started && temporary != null) {
                EmbeddedBroker.delete(temporary);
            }
        }
    }

    private static Path temporaryDirectory() {
        try {
            return Files.createTempDirectory("journalq-");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** A way to start a broker. */
    @FunctionalInterface
    interface Start {
        Broker start() throws StartException;
    }
}
