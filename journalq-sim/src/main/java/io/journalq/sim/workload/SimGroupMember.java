package io.journalq.sim.workload;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import java.util.ArrayList;
import java.util.List;

/**
 * A member of a group: keeps its membership alive, but stops now and then for so long that it loses it without knowing, and
 * commits positions of the partitions that it takes for its own. Its position is the end of what anybody knows.
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

    /** @param topics all that there are, also in the future */
    SimGroupMember(World world, GroupHistory group, List<Topic> topics) {
        this.world = world;
        this.group = group;
        this.topics = topics;
    }

    /** The broker lives again; the member does not know whether its group does. */
    public void onStart() {
        connection = world.broker().connect();
        commits = world.broker().connect();
        onConnected();
        world.later(LONGEST_PAUSE_MS, this::commit);
    }

    /** There is a new connection. */
    abstract void onConnected();

    /** What it is to the coordinator. */
    abstract OffsetCommitSender.Member identity();

    abstract boolean isClassic();

    /** Leaves its group, and then calls {@link #rest}. */
    abstract void leave();

    /** Shows that it is alive, and then calls {@link #rest}. */
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

    /** What it takes for its own. */
    List<PartitionHistory> owned() {
        return owned;
    }

    /** What it wants to read. */
    List<Topic> subscribed() {
        return topics.stream()
                .filter(topic -> topic.state() == Topic.State.PRESENT)
                .toList();
    }

    /** The partition of that number; null when the topic is not there any more. */
    PartitionHistory find(Topic topic, int partition) {
        return topic == null
                        || topic.isGone()
                        || partition >= topic.partitions().size()
                ? null
                : topic.partitions().get(partition);
    }

    /** It goes on some time later. */
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
        long askedAtMs = world.nowMs();
        OffsetCommitSender.send(
                world, commits, world.commits(group.name(), partition), member, partition.readPosition(), error -> {
                    if (error == ErrorCode.NONE) {
                        group.onCommitted(partition, member, isClassic(), askedAtMs);
                        world.did(isClassic() ? Work.CLASSIC_MEMBERS_COMMITS : Work.CONSUMER_MEMBERS_COMMITS, 1);
                    }
                    world.deliver(() -> world.later(LONGEST_PAUSE_MS, this::commit));
                });
    }
}
