package io.journalq.server.observe;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The metrics of a broker, which are created when they are first read. Their libraries and suppliers are a large part of
 * all classes that a broker loads, so that a start does not wait for them. The counters that they read count from the
 * start of the broker. Only what the JVM reports about garbage collections counts from the first reading. Any thread.
 */
public final class LazyMetrics implements AutoCloseable {
    private final List<Consumer<BrokerMetrics>> waiting = new ArrayList<>();
    private BrokerMetrics created;
    private boolean closed;

    /** Adds metrics: now if others have been created already, otherwise together with them. */
    public synchronized void add(Consumer<BrokerMetrics> part) {
        if (created == null) {
            waiting.add(part);
        } else {
            part.accept(created);
        }
    }

    /**
     * Returns the registry of the metrics, and creates them if this is the first call.
     *
     * @throws IllegalStateException after {@link #close}
     */
    public synchronized PrometheusMeterRegistry registry() {
        if (closed) {
            throw new IllegalStateException("the metrics are closed");
        }
        if (created == null) {
            BrokerMetrics metrics = new BrokerMetrics();
            waiting.forEach(part -> part.accept(metrics));
            waiting.clear();
            created = metrics;
        }
        return created.registry();
    }

    @Override
    public synchronized void close() {
        closed = true;
        waiting.clear();
        if (created != null) {
            created.close();
        }
    }
}
