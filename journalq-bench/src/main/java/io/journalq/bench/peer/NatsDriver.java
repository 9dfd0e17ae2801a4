package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import io.nats.client.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The common part of NATS with and without JetStream: the server and the connections to it. */
abstract class NatsDriver implements PubSubDriver {
    final NatsServer server;

    NatsDriver(NatsServer server) {
        this.server = server;
    }

    @Override
    public final Optional<String> missing() {
        return server.missing();
    }

    @Override
    public Map<String, String> about() {
        return server.about();
    }

    @Override
    public final void start() {
        server.start();
    }

    @Override
    public final List<BrokerNode> nodes() {
        return server.nodes();
    }

    @Override
    public void freeze() {
        server.signal("STOP");
    }

    @Override
    public final void thaw() {
        server.signal("CONT");
    }

    @Override
    public final void settle() {
        server.settle();
    }

    @Override
    public double restart(boolean kill) {
        return server.restart(kill);
    }

    @Override
    public void close() {
        server.close();
    }

    static void closed(Connection connection) {
        try {
            connection.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static BenchException failed(String what, Exception cause) {
        return new BenchException("NATS did not " + what, "check its log", cause);
    }
}
