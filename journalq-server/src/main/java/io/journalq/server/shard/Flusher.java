package io.journalq.server.shard;

import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /** Between two lines about flushes that cannot begin, which may be those of very many partitions. */
    private static final long TELL_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long NONE = Long.MIN_VALUE;

    private static final Logger log = LoggerFactory.getLogger(Flusher.class);

    /** More than a disk takes together; each holds a thread of the blocking pool. */
    private static final int MOST_FLUSHES_AT_ONCE = 8;

    /** Appends that come to wait for a flush wait for so many others at most, which nobody waits for. */
    private static final int MOST_UNAWAITED_IN_A_ROUND = 16;

    private final LoopCycle cycle;
    private final Executor blockingPool;
    private final FlushSchedule<PartitionHost> later = new FlushSchedule<>();
    private final Set<PartitionHost> next = new LinkedHashSet<>();
    private final Runnable startRound = this::startRound;

    /** Since when each partition has records that are not durable, in the loop's nanoseconds; the oldest comes first. */
    private final Map<PartitionHost, Long> unsyncedSince = new LinkedHashMap<>();

    /** The first of them; {@link #NONE} when everything is durable. */
    private volatile long oldestUnsyncedNanos = NONE;

    private boolean roundRuns;
    private boolean roundRegistered;
    private boolean ticks;
    /** When somebody was last told that a flush could not begin. */
    private long toldNanos;

    /** What one partition's flush came to. */
    private record Outcome(PartitionHost host, long flushedOffset, IOException failure) {}

    Flusher(LoopCycle cycle, Executor blockingPool) {
        this.cycle = cycle;
        this.blockingPool = blockingPool;
        this.toldNanos = cycle.loop().nanoTime() - TELL_INTERVAL_NANOS;
    }

    /** A partition's journal was written and has something to flush. */
    void onWritten(PartitionHost host) {
        if (!unsyncedSince.containsKey(host) && !host.isDurable()) {
            unsyncedSince.put(host, cycle.loop().nanoTime());
            publishOldest();
        }
        if (host.isFlushAwaited()) {
            flushSoon(host);
        } else {
            flushLater(host, host.durability().flushIntervalMs());
        }
    }

    /** More of a partition is durable; what is not was written after {@code sinceNanos}. */
    void onDurable(PartitionHost host, long sinceNanos) {
        if (unsyncedSince.remove(host) != null) {
            if (!host.isDurable()) {
                unsyncedSince.put(host, sinceNanos);
            }
            publishOldest();
        }
    }

    /** How long the oldest record that is not durable has been waiting, in nanoseconds; 0 when there is none. Any thread. */
    long oldestUnsyncedAgeNanos() {
        long since = oldestUnsyncedNanos;
        return since == NONE ? 0 : Math.max(0, cycle.loop().nanoTime() - since);
    }

    private void publishOldest() {
        Iterator<Long> oldest = unsyncedSince.values().iterator();
        oldestUnsyncedNanos = oldest.hasNext() ? oldest.next() : NONE;
    }

    /** Somebody waits for it: the next round takes it along. */
    void flushSoon(PartitionHost host) {
        next.add(host);
        if (!roundRegistered && !roundRuns) {
            roundRegistered = true;
            cycle.onWakeUp(startRound);
        }
    }

    /** A partition's flush could not begin, for want of a file handle or a thread: it is tried again after its interval. */
    void onNotBegun(PartitionHost host, IOException reason) {
        long nowNanos = cycle.loop().nanoTime();
        if (nowNanos - toldNanos >= TELL_INTERVAL_NANOS) {
            toldNanos = nowNanos;
            log.warn("cannot flush, trying again: partition={} reason=\"{}\"", host.name(), reason.getMessage());
        }
        // What write-ahead files cover may be waiting for much longer already.
        later.remove(host);
        flushLater(host, host.settings().flushIntervalMs());
    }

    private void flushLater(PartitionHost host, long intervalMs) {
        if (later.add(
                host, TimeUnit.MILLISECONDS.toNanos(intervalMs), cycle.loop().nanoTime())) {
            startTicks();
        }
    }

    /** A partition's journal is to be flushed without delay. */
    void flushNow(PartitionHost host) {
        later.remove(host);
        next.add(host);
        startRound();
    }

    /** A partition left the shard. */
    void forget(PartitionHost host) {
        later.remove(host);
        next.remove(host);
        if (unsyncedSince.remove(host) != null) {
            publishOldest();
        }
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
        Round round = new Round(takeNext());
        roundRuns = true;
        try {
            round.start();
        } catch (RejectedExecutionException busy) {
            roundRuns = false;
            round.hosts.forEach(host -> tell(notBegun(host, busy), 0));
        }
    }

    private List<PartitionHost> takeNext() {
        List<PartitionHost> taken = new ArrayList<>();
        int unawaited = 0;
        for (Iterator<PartitionHost> all = next.iterator(); all.hasNext(); ) {
            PartitionHost host = all.next();
            if (host.isFlushAwaited() || unawaited++ < MOST_UNAWAITED_IN_A_ROUND) {
                taken.add(host);
                all.remove();
            }
        }
        return taken;
    }

    /**
     * Flushes of one round. Where appends wait for it, several are done at the same time: the disk takes them together, and
     * a round is as long as its longest and not as their sum. On the blocking pool.
     */
    private final class Round implements Runnable {
        private final List<PartitionHost> hosts;
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger unfinished;
        private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
        private final long beginNanos = cycle.loop().nanoTime();

        Round(List<PartitionHost> hosts) {
            this.hosts = hosts;
            this.unfinished = new AtomicInteger(hosts.size());
        }

        void start() {
            boolean awaited = hosts.stream().anyMatch(PartitionHost::isFlushAwaited);
            blockingPool.execute(this);
            for (int i = 1; awaited && i < Math.min(hosts.size(), MOST_FLUSHES_AT_ONCE); i++) {
                try {
                    blockingPool.execute(this);
                } catch (RejectedExecutionException busy) {
                    // Those that are under way do the rest.
                    return;
                }
            }
        }

        @Override
        public void run() {
            for (int i = begun.getAndIncrement(); i < hosts.size(); i = begun.getAndIncrement()) {
                outcomes.add(flush(hosts.get(i)));
                if (unfinished.decrementAndGet() == 0) {
                    cycle.execute(() -> endRound(outcomes, beginNanos));
                }
            }
        }
    }

    private static Outcome flush(PartitionHost host) {
        try {
            return new Outcome(host, host.journal().flush(), null);
        } catch (IOException failure) {
            return new Outcome(host, 0, failure);
        } catch (RuntimeException | Error defect) {
            // The journal says nothing of a failed sync, and the shard's other partitions are flushed on.
            log.error("unexpected failure of a flush, trying again: partition={}", host.name(), defect);
            return notBegun(host, defect);
        }
    }

    private static Outcome notBegun(PartitionHost host, Throwable reason) {
        return new Outcome(
                host,
                0,
                new SyncNotBegunException(host.journal().directory(), new IOException(reason.toString(), reason)));
    }

    private void endRound(Queue<Outcome> outcomes, long beginNanos) {
        roundRuns = false;
        outcomes.forEach(outcome -> tell(outcome, beginNanos));
        startRound();
    }

    private void tell(Outcome outcome, long beginNanos) {
        PartitionHost host = outcome.host();
        try {
            if (outcome.failure() != null) {
                host.onFlushFailure(outcome.failure());
            } else {
                host.onDurable(host.durability().durableOffset(outcome.flushedOffset()));
                onDurable(host, beginNanos);
            }
        } catch (RuntimeException | Error defect) {
            // Those that were flushed with it hear of it all the same.
            log.error("unexpected failure after a flush: partition={}", host.name(), defect);
        }
    }
}
