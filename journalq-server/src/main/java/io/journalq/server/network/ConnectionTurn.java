package io.journalq.server.network;

/**
 * The share of a connection in an iteration of its loop, in the unit of {@link FairScheduler}. Work is added up until the
 * iteration flushes. A connection that has used its share ends its turn, and gets the next one after the others. On the
 * loop.
 */
public final class ConnectionTurn implements FairScheduler.Participant {
    private final FairScheduler turns;
    private final Runnable onEnd;
    private final Runnable onNext;
    private long usedBytes;
    private boolean ended;
    private boolean closed;

    /**
     * Begins a turn.
     *
     * @param onEnd is called when a turn ends
     * @param onNext is called when the next one begins
     */
    public ConnectionTurn(FairScheduler turns, Runnable onEnd, Runnable onNext) {
        this.turns = turns;
        this.onEnd = onEnd;
        this.onNext = onNext;
    }

    /** Whether the connection must not work before its next turn. */
    public boolean hasEnded() {
        return ended;
    }

    /** Counts work. The turn goes on until {@link #endIfUsedUp}. */
    void add(long bytes) {
        usedBytes += bytes;
    }

    /** Ends the turn if its share is used up. */
    void endIfUsedUp() {
        if (usedBytes >= FairScheduler.SHARE_BYTES && !ended && !closed) {
            ended = true;
            onEnd.run();
            turns.await(this);
        }
    }

    /** Counts work, and ends the turn if its share is used up. */
    public void charge(long bytes) {
        add(bytes);
        endIfUsedUp();
    }

    /** The iteration has flushed the connection. */
    public void onFlushed() {
        if (!ended) {
            usedBytes = 0;
        }
    }

    @Override
    public long beginTurn() {
        long lastBytes = usedBytes;
        usedBytes = 0;
        ended = false;
        onNext.run();
        return lastBytes;
    }

    /** The connection is closed, and has no more turns. */
    public void close() {
        closed = true;
        turns.forget(this);
    }
}
