package io.journalq.sim.workload;

import io.journalq.common.id.Uuid;
import java.util.List;
import java.util.stream.IntStream;

/** A topic, from the request that creates it to the request that deletes it. */
public final class Topic {
    private final String name;
    private final TopicPlan plan;
    private final List<PartitionHistory> partitions;
    private Uuid id;
    private State state = State.CREATING;
    private boolean settled;

    /** What the clients know about the topic. */
    public enum State {
        /** A request to create it was sent. */
        CREATING,
        /** The broker has confirmed its creation. */
        PRESENT,
        /** A request to delete it was sent. */
        DELETING,
        /** The broker has confirmed its deletion. */
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

    /** Null until a client knows it. */
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

    /** Whether it was deleted in an earlier life of the broker, so that no request to it is in flight any more. */
    boolean isGoneSinceLastLife() {
        return state == State.GONE && settled;
    }

    /** A life of the broker begins, and shows whether the topic exists. */
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
