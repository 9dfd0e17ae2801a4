package io.journalq.embedded;

import io.journalq.server.broker.Broker;
import io.journalq.server.broker.StartException;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What an embedded broker is to be like. One thread; {@link #start} may be called again for another broker. */
public final class EmbeddedBrokerBuilder {
    /** Nothing is made there: a broker in memory only needs a name for it. */
    private static final String MEMORY = "memory";

    private BrokerConfig config = BrokerConfig.defaults();
    private Path folder;
    private boolean memoryOnly;

    EmbeddedBrokerBuilder() {
        set("listeners", "PLAINTEXT://127.0.0.1:0");
        set("admin.listener", "");
        // A test has few clients and wants its first answer soon: little to start, little to open, no wait for members.
        set("shards", "1");
        set("offsets.topic.num.partitions", "1");
        set("group.initial.rebalance.delay.ms", "0");
        set("shutdown.timeout.ms", "1000");
    }

    /**
     * Sets what {@code conf/journalq.yaml} lists.
     *
     * @throws IllegalArgumentException when there is no such setting, with the nearest name, or not that value of it
     */
    public EmbeddedBrokerBuilder set(String name, String value) {
        try {
            config = config.with(name, value, ConfigOrigin.COMMAND_LINE);
            return this;
        } catch (ConfigException wrong) {
            throw new IllegalArgumentException(wrong.getMessage(), wrong);
        }
    }

    /** Keeps data in memory only: nothing touches a disk, and nothing is left when the broker is closed. */
    public EmbeddedBrokerBuilder inMemory() {
        memoryOnly = true;
        folder = null;
        return this;
    }

    /** Keeps data in {@code folder}, which stays: a broker that is started there later finds it. */
    public EmbeddedBrokerBuilder inFolder(Path folder) {
        this.folder = folder;
        memoryOnly = false;
        return this;
    }

    /**
     * Starts a broker; when this returns it serves.
     *
     * @throws IllegalStateException when it cannot start, with the reason; nothing is left open
     * @throws UncheckedIOException when there is no place for a temporary folder
     */
    public EmbeddedBroker start() {
        if (memoryOnly) {
            set("data.directories", MEMORY);
            return start(null, () -> Broker.startInMemory(config));
        }
        Path temporary = folder == null ? temporaryFolder() : null;
        set("data.directories", (folder == null ? temporary : folder).toString());
        return start(temporary, () -> Broker.start(config));
    }

    private static EmbeddedBroker start(Path temporary, Start start) {
        try {
            return new EmbeddedBroker(start.start(), temporary);
        } catch (StartException refused) {
            if (temporary != null) {
                EmbeddedBroker.delete(temporary);
            }
            throw new IllegalStateException(refused.getMessage(), refused);
        }
    }

    private static Path temporaryFolder() {
        try {
            return Files.createTempDirectory("journalq-");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** One of the ways to start. */
    private interface Start {
        Broker start() throws StartException;
    }
}
