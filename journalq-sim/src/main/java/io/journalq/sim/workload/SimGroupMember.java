package io.journalq.sim.workload;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import java.util.ArrayList;
import java.util.List;

/**
 * A group member. It sends heartbeats, but pauses from time to time for so long that it loses its membership without
 * noticing. It commits offsets of the partitions that it believes to own. Its position in a partition is after the last
 * record that any client has read.
 */
public abstract class SimGroupMember {
    private static final int LONGEST_PAUSE_MS = 40;
    private static final int LONGEST_STALL_MS = 500;
    private static final int STALL_ODDS = 15;
    private static final int LEAVE_ODDS = 20;

    private final World world;
    private final GroupHistory group;
    private final List<Topic> topics;
    private final List<PartitionHistory> owned = new ArrayList<>();
    private SimBroker.Connection connection;
    private SimBroker.Connection commits;

    /** @param topics all topics; later ones are added */
    SimGroupMember(World world, GroupHistory group, List<Topic> topics) {
        this.world = world;
        this.group = group;
        this.topics = topics;
    }

    /** A life of the broker begins. The member does not know whether its group still exists. */
    public void onStart() {
        connection = world.broker().connect();
        commits = world.broker().connect();
        onConnected();
        world.later(LONGEST_PAUSE_MS, this::commit);
    }

    /** Called when there is a new connection. */
    abstract void onConnected();

    /** The identity of the member in requests. */
    abstract OffsetCommitSender.Member identity();

    abstract boolean isClassic();

    /** Leaves the group, and then calls {@link #rest}. */
    abstract void leave();

    /** Sends a heartbeat, and then calls {@link #rest}. */
    abstract void heartbeat();

    World world() {
        return world;
    }

    GroupHistory group() {
        return group;
    }

    SimBroker.Connection connection() {
        return connection;
    }

    /** The partitions that it believes to own. */
    List<PartitionHistory> owned() {
        return owned;
    }

    /** The topics to which it subscribes. */
    List<Topic> subscribed() {
        return topics.stream()
                .filter(topic -> topic.state() == Topic.State.PRESENT)
                .toList();
    }

    /** The partition with a number; null if the topic was deleted. */
    PartitionHistory find(Topic topic, int partition) {
        return topic == null
                        || topic.isGone()
                        || partition >= topic.partitions().size()
                ? null
                : topic.partitions().get(partition);
    }

    /** Schedules the next heartbeat, or leaves the group. */
    void rest() {
        boolean stalls = world.random().nextInt(STALL_ODDS) == 0;
        boolean leaves = world.random().nextInt(LEAVE_ODDS) == 0;
        world.later(stalls ? LONGEST_STALL_MS : LONGEST_PAUSE_MS, leaves ? this::leave : this::heartbeat);
    }

    private void commit() {
        owned.removeIf(PartitionHistory::isGone);
        if (owned.isEmpty()) {
            world.later(LONGEST_PAUSE_MS, this::commit);
            return;
        }
        PartitionHistory partition = owned.get(world.random().nextInt(owned.size()));
        OffsetCommitSender.Member member = identity();
        long sentAtMs = world.nowMs();
        OffsetCommitSender.send(
                world, commits, world.commits(group.name(), partition), member, partition.readPosition(), error -> {
                    if (error == ErrorCode.NONE) {
                        group.onCommitted(partition, member, isClassic(), sentAtMs);
                        world.did(isClassic() ? Work.CLASSIC_MEMBERS_COMMITS : Work.CONSUMER_MEMBERS_COMMITS, 1);
                    }
                    world.deliver(() -> world.later(LONGEST_PAUSE_MS, this::commit));
                });
    }
}
