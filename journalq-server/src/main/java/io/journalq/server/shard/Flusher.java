package io.journalq.server.shard;

import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Brings what one shard's journals wrote to the disk, off the loop. Partitions whose appends wait for the disk are
 * flushed at once, all others within their flush interval and spread over it; one round at a time, and what is written
 * during a round waits for the next, so that one flush serves many appends.
 *
 * <p>On the shard's loop, but for the flushing itself.
 */
final class Flusher {
    /** How often partitions are looked at that have an interval; finer intervals are rounded up to it. */
    private static final long TICK_MS = 50;

    private final LoopCycle cycle;
    private final Executor blockingPool;
    private final FlushSchedule<PartitionHost> later = new FlushSchedule<>();
    private final Set<PartitionHost> next = new LinkedHashSet<>();
    private final Runnable startRound = this::startRound;
    private boolean roundRuns;
    private boolean roundRegistered;
    private boolean ticks;

    /** What one partition's flush came to. */
    private record Outcome(PartitionHost host, long flushedOffset, IOException failure) {}

    Flusher(LoopCycle cycle, Executor blockingPool) {
        this.cycle = cycle;
        this.blockingPool = blockingPool;
    }

    /** A partition's journal was written and has something to flush. */
    void onWritten(PartitionHost host) {
        if (host.settings().deliveryMode() == DeliveryMode.CONSISTENT) {
            next.add(host);
            if (!roundRegistered && !roundRuns) {
                roundRegistered = true;
                cycle.onWakeUp(startRound);
            }
        } else if (later.add(
                host,
                TimeUnit.MILLISECONDS.toNanos(host.settings().flushIntervalMs()),
                cycle.loop().nanoTime())) {
            startTicks();
        }
    }

    /** A partition left the shard. */
    void forget(PartitionHost host) {
        later.remove(host);
        next.remove(host);
    }

    private void startTicks() {
        if (!ticks) {
            ticks = true;
            cycle.loop().schedule(this::tick, TICK_MS);
        }
    }

    private void tick() {
        ticks = false;
        next.addAll(later.take(cycle.loop().nanoTime()));
        if (!later.isEmpty()) {
            startTicks();
        }
        startRound();
    }

    private void startRound() {
        roundRegistered = false;
        if (roundRuns || next.isEmpty()) {
            return;
        }
        List<PartitionHost> round = new ArrayList<>(next);
        next.clear();
        roundRuns = true;
        blockingPool.execute(() -> flush(round));
    }

    /** On the blocking pool. */
    private void flush(List<PartitionHost> round) {
        List<Outcome> outcomes = new ArrayList<>(round.size());
        for (PartitionHost host : round) {
            try {
                outcomes.add(new Outcome(host, host.journal().flush(), null));
            } catch (IOException failure) {
                outcomes.add(new Outcome(host, 0, failure));
            }
        }
        cycle.execute(() -> endRound(outcomes));
    }

    private void endRound(List<Outcome> outcomes) {
        roundRuns = false;
        for (Outcome outcome : outcomes) {
            if (outcome.failure() != null) {
                outcome.host().onFlushFailure(outcome.failure());
            } else {
                outcome.host().onFlushed(outcome.flushedOffset());
            }
        }
        startRound();
    }
}
