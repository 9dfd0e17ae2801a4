package io.journalq.bench.compare;

import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.load.LoadListener;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Function;

/** A broker with its client. The broker is frozen except during a run, so that it takes no resources from the other. One thread. */
public final class Side {
    /** Connections of {@link #load}. */
    public static final int LOAD_CONNECTIONS = 32;

    /** Requests in flight on each connection of {@link #load}. */
    public static final int LOAD_IN_FLIGHT = 16;

    private final BrokerDriver broker;
    private final ClientDriver client;
    private int topicNumber;

    /**
     * Starts and freezes a broker.
     *
     * @param client makes its client
     */
    public Side(BrokerDriver broker, Function<ConnectionSecurity, ClientDriver> client) {
        this.broker = broker;
        broker.start();
        this.client = client.apply(broker.security());
        broker.freeze();
    }

    /** The name in presets. */
    public String name() {
        return broker.name();
    }

    /** Broker, its settings, and client. */
    public String inWords() {
        return broker.name() + " " + broker.version() + " " + broker.settings() + " with client " + client.name() + " "
                + client.version();
    }

    /** Runs a case on a new topic, which is deleted afterwards. */
    public ProduceResult run(ProduceSettings settings, PayloadPool pool) throws InterruptedException {
        ProduceSettings own = new ProduceSettings(
                settings.produceCase(),
                settings.workload().onTopic("compare-" + topicNumber++),
                settings.tuning(),
                settings.messagesPerSecond(),
                settings.warmup(),
                settings.duration());
        Cleanup freezing = broker::freeze;
        Cleanup removal = () -> removeTopic(own.workload().topic());
        broker.thaw();
        try (freezing;
                removal) {
            return new ProduceRun(
                            broker, client, new KafkaClientsDriver(broker.security()), own, pool, System.err::println)
                    .run();
        }
    }

    /** Sends prebuilt single-message requests without a client library, to measure the broker alone. */
    public BrokerLoad.Result load(int partitions, PayloadPool pool, Duration warmup, Duration duration)
            throws IOException {
        String topic = "compare-" + topicNumber++;
        Cleanup freezing = broker::freeze;
        Cleanup removal = () -> removeTopic(topic);
        broker.thaw();
        try (freezing;
                removal) {
            broker.createTopic(topic, partitions);
            System.err.println(broker.name() + " single-message requests without a client library");
            return new BrokerLoad(
                            LoadListener.of(
                                    address(broker.bootstrap()),
                                    broker.security().loadContext()),
                            topic,
                            partitions,
                            1,
                            pool,
                            LOAD_IN_FLIGHT)
                    .run(LOAD_CONNECTIONS, broker.pid(), broker.metricsAddress().orElse(null), warmup, duration);
        }
    }

    /**
     * What follows a run. If the topic cannot be removed, the broker is frozen nevertheless, and the failure of the run
     * remains the one to report.
     */
    @FunctionalInterface
    private interface Cleanup extends AutoCloseable {
        @Override
        void close();
    }

    private void removeTopic(String topic) {
        if (broker.topics().contains(topic)) {
            broker.deleteTopic(topic);
        }
        broker.settle();
    }

    /** Parses {@code host:port}. */
    public static InetSocketAddress address(String bootstrap) {
        int colon = bootstrap.lastIndexOf(':');
        return new InetSocketAddress(bootstrap.substring(0, colon), Integer.parseInt(bootstrap.substring(colon + 1)));
    }
}
