package io.journalq.server.api.admin.cluster;

import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.control.Controller;
import io.journalq.server.metadata.MetadataImage;
import java.time.Clock;
import java.util.function.Supplier;

/** Registers the handlers of the APIs for leaders, replicas, the quorum and features. */
public final class ClusterHandlers {
    private ClusterHandlers() {}

    /** Registers the handlers. */
    public static void register(
            HandlerRegistry registry,
            BrokerIdentity identity,
            Supplier<MetadataImage> images,
            Controller controller,
            Clock clock) {
        registry.register(new ElectLeadersHandler(images));
        registry.register(new AlterPartitionReassignmentsHandler(images));
        registry.register(new ListPartitionReassignmentsHandler());
        registry.register(new DescribeQuorumHandler(identity, images, clock));
        registry.register(new UpdateFeaturesHandler(images, controller));
    }
}
