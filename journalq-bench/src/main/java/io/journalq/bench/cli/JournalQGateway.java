package io.journalq.bench.cli;

import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.load.HttpGatewayTarget;
import io.journalq.bench.load.HttpGatewayTarget.Format;
import io.journalq.bench.load.LoadTarget;
import java.util.Map;
import java.util.Optional;

/** The HTTP gateway of JournalQ. One thread. */
final class JournalQGateway extends GatewayBroker {
    private final JournalQBroker broker;
    private final int partitions;
    private final Format format;
    private final String deliveryMode;

    /** {@code broker} has a gateway, and is not started yet. */
    JournalQGateway(JournalQBroker broker, int partitions, Format format, String deliveryMode) {
        super(Name.JOURNALQ);
        this.broker = broker;
        this.partitions = partitions;
        this.format = format;
        this.deliveryMode = deliveryMode;
    }

    @Override
    Optional<String> missing() {
        return Optional.empty();
    }

    @Override
    void start() {
        broker.start();
    }

    @Override
    Map<String, String> about() {
        return Map.of("broker_settings", broker.settings().toString());
    }

    @Override
    void freeze() {
        broker.freeze();
    }

    @Override
    void thaw() {
        broker.thaw();
    }

    @Override
    long pid() {
        return broker.pid();
    }

    @Override
    String metricsAddress() {
        return broker.metricsAddress().orElse(null);
    }

    @Override
    LoadTarget createTopic(String topic) {
        broker.createTopic(topic, partitions, Map.of("delivery.mode", deliveryMode));
        return new HttpGatewayTarget(
                Side.address(broker.gatewayAddress()), broker.security(), topic, partitions, format);
    }

    @Override
    void deleteTopic(String topic) {
        broker.deleteTopic(topic);
    }

    @Override
    void settle() {
        broker.settle();
    }

    @Override
    public void close() {
        broker.close();
    }
}
