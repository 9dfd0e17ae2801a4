package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * How this process takes part in its cluster: it registers, stays unfenced, and leaves. A broker that is alone
 * registers, and has nothing else to do. Used by the thread that opens and closes the broker, except {@link #disable}.
 */
final class ClusterMember {
    private final BrokerConfig config;
    private final Controller controller;
    private final BrokerLifecycle lifecycle;
    /** Null for a broker that is alone. */
    private final BrokerSupervisor supervisor;

    private final MetadataLogOpener.Waiting waiting;

    /**
     * Creates a member that is not registered.
     *
     * @param controller the controller of this broker
     * @param supervisor null for a broker that is alone
     * @param waiting waits for a registration
     */
    ClusterMember(
            BrokerConfig config,
            Controller controller,
            BrokerLifecycle lifecycle,
            BrokerSupervisor supervisor,
            MetadataLogOpener.Waiting waiting) {
        this.config = config;
        this.controller = controller;
        this.lifecycle = lifecycle;
        this.supervisor = supervisor;
        this.waiting = waiting;
    }

    /** Whether brokers elect the controller. */
    boolean isInCluster() {
        return supervisor != null;
    }

    /**
     * Registers a broker of a cluster, so that its partitions are recovered with their newest leader epochs. Blocks.
     *
     * @throws IOException if the registration is refused, or the metadata of this broker cannot become newer
     */
    void join() throws IOException {
        if (supervisor == null) {
            return;
        }
        var unused = controller.whenFailed().thenRun(supervisor::disable);
        try {
            waiting.await(CompletableFuture.anyOf(metadataFailure(), lifecycle.join()));
        } catch (IOException | RuntimeException failure) {
            supervisor.stop();
            throw failure;
        }
    }

    /** Fails if the metadata of this broker cannot become newer. */
    private CompletableFuture<Void> metadataFailure() {
        return controller
                .whenFailed()
                .thenCompose(failed -> CompletableFuture.failedFuture(
                        new IOException("the metadata of the cluster cannot be applied; the log of this broker says why"
                                + " (event=metadata-log-failed)")));
    }

    /**
     * Registers a broker that is alone. One of a cluster has registered the addresses of its configuration. Blocks.
     *
     * @param advertised the addresses that clients are given
     * @throws IOException if the registration cannot be written
     */
    void registerAlone(List<ListenerAddress> advertised) throws IOException {
        if (supervisor == null) {
            waiting.await(lifecycle.register(advertised));
        }
    }

    /** See {@link BrokerSupervisor#setIncomplete}. A broker that is alone has nobody to tell. */
    void setIncomplete(Map<Uuid, List<Integer>> numbers, Supplier<CompletableFuture<Void>> onReported) {
        if (supervisor != null) {
            supervisor.setIncomplete(numbers, onReported);
        }
    }

    /**
     * Asks to be unfenced, and stays it.
     *
     * @param failed are reported to the active controller while others can take over
     * @param full ids of the data directories without room
     * @return completed when this broker may lead partitions; at once for one that is alone. Fails if it can never lead
     */
    CompletableFuture<Void> serve(FailedReplicas failed, Supplier<List<Uuid>> full) {
        return supervisor == null
                ? CompletableFuture.completedFuture(null)
                : supervisor.serve(controller, failed, full);
    }

    /** The metadata of this broker stay as they are until a restart, so that others must lead. Any thread. */
    void disable() {
        if (supervisor != null) {
            supervisor.disable();
        }
    }

    /**
     * Lets other brokers of the cluster take over what this one leads, within {@code shutdown.timeout.ms}.
     *
     * @return completed when this broker may stop
     */
    CompletableFuture<Void> leave() {
        return supervisor.leave(config.get(BrokerSettings.SHUTDOWN_TIMEOUT_MS));
    }

    /** Sends nothing more. */
    void stop() {
        if (supervisor != null) {
            supervisor.stop();
        }
    }
}
