package io.journalq.bench.cli;

import io.journalq.bench.compare.Side;
import io.journalq.bench.load.GatewayLoad;
import io.journalq.bench.load.LoadTarget;
import io.journalq.bench.load.StompTarget;
import io.journalq.bench.peer.RabbitWebStomp;
import java.util.Map;
import java.util.Optional;

/** STOMP over WebSockets of RabbitMQ. One thread. */
final class StompGateway extends GatewayBroker {
    private final RabbitWebStomp server;
    private final int messages;

    /** {@code settings} are those of the server, by its own names. */
    StompGateway(GatewayLoad.Shape shape, Map<String, String> settings) {
        super(Name.WEB_STOMP);
        this.server = new RabbitWebStomp(settings);
        this.messages = shape.messages();
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
        server.createTopic(topic);
        return new StompTarget(Side.address(server.address()), topic, messages);
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
