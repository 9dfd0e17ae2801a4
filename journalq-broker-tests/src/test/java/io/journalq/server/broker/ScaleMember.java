package io.journalq.server.broker;

import java.util.List;

/** A member of a group that takes the next step of its protocol on request, and handles the responses. */
interface ScaleMember {
    /** Number of its group. */
    int group();

    /** Sends its next request, unless it waits for a response. */
    void act();

    /** Leaves its group. */
    void leave();

    /** Whether it waits for a response. */
    boolean waits();

    /** Whether it may wait for a response until others of its group have acted. */
    boolean mayWaitForOthers();

    /** Whether it has its partitions, so that only heartbeats remain to be sent. */
    boolean isStable();

    /** Its generation or epoch. */
    int generation();

    /** Its assigned partitions. */
    List<Integer> partitions();
}
