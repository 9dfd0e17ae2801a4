package io.journalq.embedded;

import io.journalq.server.broker.Broker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A broker that serves inside this process. Any thread. */
public final class EmbeddedBroker implements AutoCloseable {
    private final Broker broker;

    /** What goes with the broker; null when nothing does. */
    private final Path temporaryFolder;

    private boolean closed;

    EmbeddedBroker(Broker broker, Path temporaryFolder) {
        this.broker = broker;
        this.temporaryFolder = temporaryFolder;
    }

    /** What clients call {@code bootstrap.servers}: {@code host:port}. */
    public String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** The port that it was given. */
    public int port() {
        return broker.listeners().get(0).port();
    }

    /** The folder that goes with it; null when there is none. */
    Path temporaryFolder() {
        return temporaryFolder;
    }

    /**
     * Stops it; its threads end, its port is free, its temporary folder is gone. Closing again does nothing.
     *
     * @throws UncheckedIOException when the temporary folder cannot be deleted
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        broker.close();
        if (temporaryFolder != null) {
            delete(temporaryFolder);
        }
    }

    static void delete(Path folder) {
        try {
            List<Path> deepestFirst;
            try (Stream<Path> all = Files.walk(folder)) {
                deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
