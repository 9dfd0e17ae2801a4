package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import java.util.List;

/** Commits the position of a consumer from time to time, one commit at a time, without being a member of the group. */
public final class Committer {
    private static final int LONGEST_PAUSE_MS = 60;
    private static final int FIND_VERSION = 4;

    private final World world;
    private final SimConsumer consumer;
    private final CommitHistory history;
    private SimBroker.Connection connection;

    public Committer(World world, String group, SimConsumer consumer) {
        this.world = world;
        this.consumer = consumer;
        this.history = world.commits(group, consumer.partition());
    }

    /** Whether the topic of the consumer was deleted. */
    public boolean isDone() {
        return history.partition().isGone();
    }

    /** A life of the broker begins. */
    public void onStart() {
        connection = world.broker().connect();
        connection.send(
                ApiKey.FIND_COORDINATOR,
                FIND_VERSION,
                new FindCoordinatorRequest().setCoordinatorKeys(List.of(history.group())),
                message -> world.deliver(this::pause));
    }

    private void pause() {
        world.later(LONGEST_PAUSE_MS, this::commit);
    }

    private void commit() {
        if (history.partition().isGone()) {
            return;
        }
        OffsetCommitSender.Position position =
                new OffsetCommitSender.Position(consumer.position(), consumer.leaderEpoch());
        OffsetCommitSender.send(world, connection, history, OffsetCommitSender.Member.NONE, position, error -> {
            world.did(Work.POSITIONS_COMMITTED, error == ErrorCode.NONE ? 1 : 0);
            world.deliver(this::pause);
        });
    }
}
