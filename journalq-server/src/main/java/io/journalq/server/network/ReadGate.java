package io.journalq.server.network;

import io.journalq.server.loop.Limit;
import io.netty.channel.Channel;

/**
 * Decides whether the socket of a connection is read. It is not while too many requests have no response, while the client
 * does not read its responses, while a response waits for memory, during a pause, and after the connection has used its
 * share of an iteration. Bytes that were read before wait in the {@link RequestFrameDecoder}. On the connection's loop.
 */
final class ReadGate implements InFlightBudget.Waiter {
    private final LoopContext loop;
    private final Channel channel;
    private final ResponseQueue responses;
    private final ResponseMemory responseMemory;
    private final Runnable flushLater;
    private final ConnectionTurn turn;
    private RequestFrameDecoder frames;
    private int maxInFlightRequests;
    private long inFlightBytes;
    private int pauses;
    private boolean suspended;

    /**
     * Opens the gate.
     *
     * @param responses those of the connection
     * @param flushLater flushes the connection at the end of the loop's iteration, and then calls {@link #onFlushed} and
     *     {@link #resumeIfPossible}
     */
    ReadGate(
            LoopContext loop,
            Channel channel,
            ResponseQueue responses,
            ResponseMemory responseMemory,
            Runnable flushLater) {
        this.loop = loop;
        this.channel = channel;
        this.responses = responses;
        this.responseMemory = responseMemory;
        this.flushLater = flushLater;
        this.turn = new ConnectionTurn(loop.turns(), this::endTurn, flushLater);
        this.maxInFlightRequests = loop.limits().maxInFlightRequests();
    }

    /** Sets the source of the frames. Called before the first frame. */
    void readThrough(RequestFrameDecoder decoder) {
        frames = decoder;
    }

    /** Sets how many requests may have no response. */
    void limitRequests(int limit) {
        maxInFlightRequests = limit;
    }

    boolean isSuspended() {
        return suspended;
    }

    boolean isPaused() {
        return pauses > 0;
    }

    /** A frame has arrived, and its exchange was opened. */
    void onRequest(Exchange exchange, int frameBytes) {
        turn.add(FairScheduler.REQUEST_BYTES + frameBytes);
        inFlightBytes += exchange.heldSizeBytes();
        loop.budget().take(exchange.budgetSizeBytes());
    }

    /** The request is being processed. */
    void onHandled() {
        if (mustSuspend()) {
            suspend();
        }
        turn.endIfUsedUp();
    }

    /** A part of a large request has arrived. */
    void onPart(int sizeBytes) {
        turn.charge(sizeBytes);
    }

    /** A response was written. */
    void onWritten(int sizeBytes) {
        turn.add(sizeBytes);
    }

    /** The request holds nothing any more. */
    void onReleased(Exchange exchange) {
        inFlightBytes -= exchange.heldSizeBytes();
        loop.budget().giveBack(exchange.budgetSizeBytes());
    }

    /** The iteration has flushed the connection. */
    void onFlushed() {
        turn.onFlushed();
    }

    /** Begins a pause. Pauses can overlap. */
    void pause() {
        pauses++;
        suspend();
    }

    /** Ends a {@link #pause}. */
    void endPause() {
        pauses--;
        flushLater.run();
    }

    @Override
    public void onBudgetLow() {
        flushLater.run();
    }

    private void endTurn() {
        loop.counters().readYields.increment();
        leaveUnread();
    }

    private boolean mustSuspend() {
        Limit reached = reachedLimit();
        if (reached != null && !suspended) {
            loop.cycle().counters().onLimit(reached);
        }
        return reached != null || pauses > 0 || responseMemory.isWaiting() || !channel.isWritable();
    }

    /** Null while the requests without a response are within all limits. */
    private Limit reachedLimit() {
        ConnectionLimits limits = loop.limits();
        if (responses.size() >= maxInFlightRequests) {
            return Limit.CONNECTION_REQUESTS;
        }
        if (inFlightBytes > limits.maxInFlightBytes()) {
            return Limit.CONNECTION_BYTES;
        }
        return loop.budget().isExceeded() ? Limit.TOTAL_BYTES : null;
    }

    void suspend() {
        if (!suspended) {
            loop.counters().suspensions.increment();
            leaveUnread();
        }
    }

    private void leaveUnread() {
        suspended = true;
        frames.hold();
        channel.config().setAutoRead(false);
        // Checked again at the end of the iteration, after the responses of this iteration were sent.
        flushLater.run();
    }

    /** Reads again if the limits allow it. */
    void resumeIfPossible() {
        if (suspended && mayResume()) {
            suspended = false;
            frames.goOn();
            if (!suspended && channel.isOpen()) {
                channel.config().setAutoRead(true);
            }
        }
    }

    private boolean mayResume() {
        ConnectionLimits limits = loop.limits();
        if (pauses > 0 || turn.hasEnded() || frames.isWaiting()) {
            return false;
        }
        if (frames.isWithinFrame()) {
            return true; // Its memory is reserved, and is released only after the response to the complete request.
        }
        if (responseMemory.isWaiting()
                || responses.size() > maxInFlightRequests * ConnectionLimits.LOW_WATER
                || inFlightBytes > limits.maxInFlightBytes() * ConnectionLimits.LOW_WATER
                || !channel.isWritable()) {
            return false;
        }
        if (!loop.budget().isLow()) {
            loop.budget().await(this);
            return false;
        }
        return true;
    }

    /** Reads no more, and drops what was read and is no complete frame. */
    void stop() {
        frames.hold();
        frames.releaseRest();
        channel.config().setAutoRead(false);
    }

    /** The connection is closed. */
    void close() {
        loop.budget().forget(this);
        turn.close();
    }
}
