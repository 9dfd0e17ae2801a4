package io.journalq.embedded;

import io.journalq.server.broker.Broker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A broker that runs in this process. Thread-safe. */
public final class EmbeddedBroker implements AutoCloseable {
    private final Broker broker;

    /** A directory that is deleted with the broker, or null. */
    private final Path temporaryDirectory;

    private boolean closed;

    EmbeddedBroker(Broker broker, Path temporaryDirectory) {
        this.broker = broker;
        this.temporaryDirectory = temporaryDirectory;
    }

    /** The address for clients, {@code host:port}, as in {@code bootstrap.servers}. */
    public String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** The port of the listener. */
    public int port() {
        return broker.listeners().get(0).port();
    }

    /** The directory that is deleted with the broker, or null. */
    Path temporaryDirectory() {
        return temporaryDirectory;
    }

    /**
     * Stops the broker: its threads end, its port is released, and its temporary directory is deleted. Further calls
     * have no effect.
     *
     * @throws UncheckedIOException if the temporary directory cannot be deleted
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        broker.close();
        if (temporaryDirectory != null) {
            delete(temporaryDirectory);
        }
    }

    static void delete(Path directory) {
        try {
            List<Path> deepestFirst;
            try (Stream<Path> all = Files.walk(directory)) {
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
