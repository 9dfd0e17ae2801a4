package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import java.util.List;
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
    public final List<BrokerNode> nodes() {
        return List.of(new BrokerNode(server.pid(), null, null));
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
