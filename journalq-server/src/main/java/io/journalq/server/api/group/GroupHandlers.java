package io.journalq.server.api.group;

import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.Map;
import java.util.function.Supplier;

/** Registers the handlers of the APIs of groups, committed offsets and coordinators. */
public final class GroupHandlers {
    private GroupHandlers() {}

    /** Registers the handlers of groups and committed offsets. */
    public static void register(
            HandlerRegistry registry,
            Supplier<MetadataImage> images,
            Coordinators<GroupMachine> groups,
            RefusalLog refusalLog) {
        GroupRefusals refusals = new GroupRefusals(refusalLog);
        registry.register(new JoinGroupHandler(groups, refusals));
        registry.register(new SyncGroupHandler(groups, refusals));
        registry.register(new HeartbeatHandler(groups));
        registry.register(new LeaveGroupHandler(groups));
        registry.register(new OffsetCommitHandler(groups, images, refusals));
        registry.register(new OffsetFetchHandler(groups, images));
        registry.register(new OffsetDeleteHandler(groups, images));
        registry.register(new ConsumerGroupHeartbeatHandler(groups, images, refusals));
        registry.register(new ConsumerGroupDescribeHandler(groups, images));
        registry.register(new ListGroupsHandler(groups));
        registry.register(new DescribeGroupsHandler(groups));
        registry.register(new DeleteGroupsHandler(groups));
    }

    /** Registers the handler that finds coordinators, once the addresses of the broker are known. */
    public static void registerDiscovery(
            HandlerRegistry registry,
            ClusterBrokers brokers,
            CoordinatorTopic groupsTopic,
            CoordinatorTopic transactionsTopic) {
        registry.register(new FindCoordinatorHandler(
                brokers,
                Map.of(
                        FindCoordinatorHandler.GROUP,
                        groupsTopic,
                        FindCoordinatorHandler.TRANSACTION,
                        transactionsTopic)));
    }
}
