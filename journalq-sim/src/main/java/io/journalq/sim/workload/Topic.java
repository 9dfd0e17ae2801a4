package io.journalq.sim.workload;

import io.journalq.common.id.Uuid;
import java.util.List;
import java.util.stream.IntStream;

/** One topic, from the request that creates it to the one that deletes it. */
public final class Topic {
    private final String name;
    private final TopicPlan plan;
    private final List<PartitionHistory> partitions;
    private Uuid id;
    private State state = State.CREATING;
    private boolean settled;

    /** What is known of it. */
    public enum State {
        /** Somebody asked for it. */
        CREATING,
        /** Somebody was told that it is there. */
        PRESENT,
        /** Somebody asked to delete it. */
        DELETING,
        /** Somebody was told that it is gone. */
        GONE
    }

    Topic(String name, TopicPlan plan, int partitionCount) {
        this.name = name;
        this.plan = plan;
        this.partitions = IntStream.range(0, partitionCount)
                .mapToObj(number -> new PartitionHistory(this, number))
                .toList();
    }

    public String name() {
        return name;
    }

    public TopicPlan plan() {
        return plan;
    }

    /** Null as long as nobody was told. */
    public Uuid id() {
        return id;
    }

    public State state() {
        return state;
    }

    public List<PartitionHistory> partitions() {
        return partitions;
    }

    boolean isGone() {
        return state == State.DELETING || state == State.GONE;
    }

    /** Whether it is gone since an earlier life of the broker: nothing that was sent to it is under way any more. */
    boolean isGoneSinceLastLife() {
        return state == State.GONE && settled;
    }

    /** A new life of the broker begins, and shows whether the topic is there. */
    void settle(boolean present) {
        settled = true;
        state = present ? State.PRESENT : State.GONE;
    }

    void onPresent(Uuid itsId) {
        id = itsId;
        state = State.PRESENT;
    }

    void onDeleting() {
        settled = false;
        state = State.DELETING;
    }

    void onGone() {
        state = State.GONE;
    }

    @Override
    public String toString() {
        return name + " " + id + " (" + state + ")";
    }
}
