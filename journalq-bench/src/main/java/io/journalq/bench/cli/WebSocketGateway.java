package io.journalq.bench.cli;

import io.journalq.bench.compare.Side;
import io.journalq.bench.load.GatewayLoad;
import io.journalq.bench.load.LoadTarget;
import io.journalq.bench.load.NatsTarget;
import io.journalq.bench.load.StompTarget;
import io.journalq.bench.peer.NatsWebSockets;
import io.journalq.bench.peer.RabbitWebStomp;
import io.journalq.bench.peer.WebSocketServer;
import java.util.Map;
import java.util.Optional;

/** Another broker with WebSockets of its own: NATS with or without JetStream, or STOMP of RabbitMQ. One thread. */
final class WebSocketGateway extends GatewayBroker {
    private final WebSocketServer server;
    private final Targets targets;

    /** The load on one topic. */
    private interface Targets {
        /** @param source the name from which a subscriber receives every message */
        LoadTarget of(String topic, String source);
    }

    private WebSocketGateway(Name name, WebSocketServer server, Targets targets) {
        super(name);
        this.server = server;
        this.targets = targets;
    }

    /**
     * NATS over WebSockets.
     *
     * @param name {@link GatewayBroker.Name#NATS} or {@link GatewayBroker.Name#JETSTREAM}
     * @param settings of the server, by its own names
     */
    static WebSocketGateway nats(Name name, GatewayLoad.Shape shape, Map<String, String> settings) {
        long inFlight = (long) shape.inFlight() * shape.messages();
        int acknowledgements = name == Name.JETSTREAM ? shape.messages() : 0;
        NatsWebSockets server = new NatsWebSockets(name.toString(), inFlight, shape.messageBytes(), settings);
        return new WebSocketGateway(
                name,
                server,
                (topic, source) -> new NatsTarget(Side.address(server.address()), topic, source, acknowledgements));
    }

    /**
     * STOMP over WebSockets of RabbitMQ.
     *
     * @param settings of the server, by its own names
     */
    static WebSocketGateway stomp(GatewayLoad.Shape shape, Map<String, String> settings) {
        RabbitWebStomp server = new RabbitWebStomp(settings);
        return new WebSocketGateway(
                Name.WEB_STOMP,
                server,
                (topic, source) -> new StompTarget(Side.address(server.address()), source, shape.messages()));
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
        return targets.of(topic, server.createTopic(topic));
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
