package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.observe.AdminAccess;
import io.journalq.server.observe.AdminListener;
import io.journalq.server.observe.Health;
import io.journalq.server.observe.LazyMetrics;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/**
 * The pages of the admin listener: the broker's health, and the metrics of all its parts. A broker without that
 * listener creates none of this. Any thread.
 */
final class AdminPages implements AutoCloseable {
    private final LazyMetrics metrics;
    private final AdminListener listener;

    private AdminPages(LazyMetrics metrics, AdminListener listener) {
        this.metrics = metrics;
        this.listener = listener;
    }

    /**
     * Serves health, and the metrics that exist without a {@link BrokerCore}.
     *
     * @param access who may read them
     * @throws IOException when the address cannot be bound; nothing is left open
     */
    static AdminPages open(
            BrokerConfig config,
            EventLoops loops,
            NetworkCounters network,
            SharedMemory directMemory,
            MemoryBudget stateMemory,
            Supplier<Health> health,
            AdminAccess access)
            throws IOException {
        ListenerAddress wanted = config.adminListener().orElseThrow();
        LazyMetrics metrics = new LazyMetrics();
        metrics.add(all -> {
            String version = AdminPages.class.getPackage().getImplementationVersion();
            all.bindBuild(version == null ? "(not packaged)" : version);
            all.bindLoops(loops.cycles(), stateMemory);
            all.bindNetwork(network);
            all.bindMemory(directMemory);
            all.bindAllocator("pooled", PooledByteBufAllocator.DEFAULT.metric());
        });
        try {
            return new AdminPages(
                    metrics,
                    AdminListener.start(
                            wanted.host().isEmpty()
                                    ? new InetSocketAddress(wanted.port())
                                    : new InetSocketAddress(wanted.host(), wanted.port()),
                            metrics::registry,
                            health,
                            BrokerNames.of(config, wanted.host(), config.get(ListenerSettings.ADMIN_ALLOWED_HOSTS)),
                            access));
        } catch (IOException | RuntimeException failure) {
            metrics.close();
            throw failure;
        }
    }

    /** The port that the listener is bound to. */
    int port() {
        return listener.port();
    }

    /** Adds the metrics of the core. Called once. */
    void show(BrokerCore core) {
        metrics.add(all -> new CoreMetrics(all).bind(core));
    }

    /** Adds the metrics of the gateway. Called once. */
    void show(GatewaySetup gateway) {
        metrics.add(gateway::show);
    }

    @Override
    public void close() {
        listener.close();
        metrics.close();
    }
}
