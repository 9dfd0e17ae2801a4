package io.journalq.bench.cli;

import io.journalq.bench.compare.Side;
import io.journalq.bench.load.GatewayLoad;
import io.journalq.bench.load.LoadTarget;
import io.journalq.bench.load.NatsTarget;
import io.journalq.bench.peer.NatsWebSockets;
import java.util.Map;
import java.util.Optional;

/** NATS over WebSockets, with or without JetStream. One thread. */
final class NatsGateway extends GatewayBroker {
    private final NatsWebSockets server;
    private final int acknowledgements;

    /** {@code settings} are those of the server, by its own names. */
    NatsGateway(Name name, GatewayLoad.Shape shape, Map<String, String> settings) {
        super(name);
        long inFlight = (long) shape.inFlight() * shape.messages();
        this.server = new NatsWebSockets(name.toString(), inFlight, shape.messageBytes(), settings);
        this.acknowledgements = name == Name.JETSTREAM ? shape.messages() : 0;
    }

    @Override
    Optional<String> missing() {
        return server.missing();
    }

    @Override
    void start() {
        server.start();
    }

    @Override
    Map<String, String> about() {
        return Map.of(name().toString(), server.about());
    }

    @Override
    void freeze() {
        server.freeze();
    }

    @Override
    void thaw() {
        server.thaw();
    }

    @Override
    long pid() {
        return server.pid();
    }

    @Override
    String metricsAddress() {
        return null;
    }

    @Override
    LoadTarget createTopic(String topic) {
        return new NatsTarget(Side.address(server.address()), topic, server.createTopic(topic), acknowledgements);
    }

    @Override
    void deleteTopic(String topic) {
        server.deleteTopic(topic);
    }

    @Override
    void settle() {
        server.settle();
    }

    @Override
    public void close() {
        server.close();
    }
}
