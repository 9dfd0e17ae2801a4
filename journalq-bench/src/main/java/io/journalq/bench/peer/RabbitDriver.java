package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import java.nio.file.Path;
import java.util.Optional;

/** The common part of RabbitMQ streams and queues: a running server that this program neither starts nor stops. */
abstract class RabbitDriver implements PubSubDriver {
    final RabbitServer server;

    RabbitDriver(RabbitServer server) {
        this.server = server;
    }

    @Override
    public final Optional<String> missing() {
        return server.missing();
    }

    @Override
    public final boolean isStartedHere() {
        return false;
    }

    @Override
    public final long pid() {
        return server.pid();
    }

    @Override
    public final Optional<Path> dataDirectory() {
        return Optional.empty();
    }

    @Override
    public final Optional<String> metricsAddress() {
        return Optional.empty();
    }

    @Override
    public final void freeze() {
        // Other clients may use this server.
    }

    @Override
    public final void settle() {
        // The location of its files is unknown.
    }

    @Override
    public final void thaw() {
        // Never frozen.
    }

    @Override
    public final double restart(boolean kill) {
        throw new BenchException("this program did not start RabbitMQ and cannot restart it", "use another scenario");
    }
}
