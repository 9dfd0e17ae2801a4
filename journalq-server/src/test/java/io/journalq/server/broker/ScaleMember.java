package io.journalq.server.broker;

import java.util.List;

/** A member of a group that does the next thing of its protocol when it is told to, and takes its answers. */
interface ScaleMember {
    /** Number of its group. */
    int group();

    /** Sends what comes next, unless it waits for an answer. */
    void act();

    /** Leaves its group. */
    void leave();

    /** Whether it waits for an answer. */
    boolean waits();

    /** Whether it may wait for an answer until others of its group have acted. */
    boolean mayWaitForOthers();

    /** Whether it has its partitions and nothing to do but to live. */
    boolean isStable();

    /** Generation or epoch that it is in. */
    int generation();

    /** Partitions that it was given. */
    List<Integer> partitions();
}
