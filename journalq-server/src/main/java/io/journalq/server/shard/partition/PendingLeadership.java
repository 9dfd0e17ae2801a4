package io.journalq.server.shard.partition;

import io.journalq.server.loop.Loop;
import io.journalq.server.shard.append.BlockedAppends;

/**
 * A replica is to lead, and still follows the last leader in the epoch before, until that one has stopped and sent
 * everything that it has. Otherwise, the last leader and the other followers would have records that the new leader does
 * not have, and could fetch from it only after they have removed these from their logs, which takes several fsyncs.
 * Appends wait in the meantime. On the partition's loop.
 */
final class PendingLeadership {
    /** The last leader may not know the decision yet. After this time, the replica leads without the rest. */
    static final int MAX_MS = 200;

    private final Loop loop;
    private final BlockedAppends appends;
    private final Runnable lead;
    private Loop.Timer timer;

    /**
     * Lets appends wait from now on.
     *
     * @param lead begins the epoch
     */
    PendingLeadership(Loop loop, BlockedAppends appends, Runnable lead) {
        this.loop = loop;
        this.appends = appends;
        this.lead = lead;
        appends.hold();
        timer = loop.schedule(this::end, MAX_MS);
    }

    /** The last leader has nothing more, or does not respond. */
    void endSoon() {
        timer.cancel();
        timer = loop.schedule(this::end, 0);
    }

    private void end() {
        lead.run();
        appends.release();
    }

    /** The replica has another role now. */
    void cancel() {
        timer.cancel();
        appends.release();
    }
}
