package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import java.nio.file.Path;
import java.util.Optional;

/** What streams and queues of a RabbitMQ server have in common: it runs already, and goes on running. */
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
        // Not ours to stop.
    }

    @Override
    public final void settle() {
        // Its files are not known.
    }

    @Override
    public final void thaw() {
        // Never frozen.
    }

    @Override
    public final double restart(boolean kill) {
        throw new BenchException("RabbitMQ was not started here", "choose a scenario that restarts nothing");
    }
}
