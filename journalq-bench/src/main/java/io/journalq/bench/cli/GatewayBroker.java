package io.journalq.bench.cli;

import io.journalq.bench.load.GatewayLoad;
import io.journalq.bench.load.LoadTarget;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A broker that {@code journalq-bench gateway} measures. It is frozen except while it is measured. One thread. */
abstract class GatewayBroker implements AutoCloseable {
    private final Name name;

    /** The names of the brokers. */
    enum Name {
        JOURNALQ,
        NATS,
        JETSTREAM,
        WEB_STOMP;

        /** The name in options and results. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    GatewayBroker(Name name) {
        this.name = name;
    }

    final Name name() {
        return name;
    }

    /** The command that installs what is missing; empty if the broker can be started. */
    abstract Optional<String> missing();

    abstract void start();

    /** Settings that differ from the broker's defaults, for the result. */
    abstract Map<String, String> about();

    abstract void freeze();

    abstract void thaw();

    abstract long pid();

    /** The {@code host:port} of the broker's metrics; null if there is none. */
    abstract String metricsAddress();

    abstract LoadTarget createTopic(String topic);

    abstract void deleteTopic(String topic);

    /** Waits until everything is written to disk. */
    abstract void settle();

    /** Measures the broker on a new topic, which is deleted afterwards. */
    final GatewayLoad.Result measure(String topic, GatewayLoad.Shape shape, long requests) throws IOException {
        thaw();
        GatewayLoad.Result result = new GatewayLoad(createTopic(topic), shape).run(requests, pid(), metricsAddress());
        deleteTopic(topic);
        settle();
        freeze();
        return result;
    }

    @Override
    public abstract void close();
}
