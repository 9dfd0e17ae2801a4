package io.journalq.server.shard.partition;

import io.journalq.server.loop.Loop;
import io.journalq.server.shard.append.BlockedAppends;

/**
 * A follower receives an append. The client may have learned from the last leader that this replica leads now, before this
 * broker has learned it. Most clients wait for their back-off after a refusal, so appends wait for a moment instead. On
 * the partition's loop.
 */
final class ExpectedLeadership {
    /** Brokers apply a decision within this time, except if they are behind for another reason. */
    static final int MAX_MS = 100;

    private final BlockedAppends appends;
    private final Loop.Timer timer;

    /**
     * Lets appends wait from now on.
     *
     * @param refuse is called when the replica still does not lead
     */
    ExpectedLeadership(Loop loop, BlockedAppends appends, Runnable refuse) {
        this.appends = appends;
        appends.hold();
        timer = loop.schedule(refuse, MAX_MS);
    }

    /**
     * Ends the wait.
     *
     * @param release whether what waits is admitted or refused now; otherwise, it goes on waiting for something else
     */
    void end(boolean release) {
        timer.cancel();
        if (release) {
            appends.release();
        }
    }
}
