package io.journalq.server.shard.flush;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.nio.file.Path;
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
 * Fsyncs the journals of one shard, off the loop. Partitions whose appends wait for the disk are flushed at once, all
 * others within their flush interval and spread over it. One round runs at a time. Writes during a round wait for the
 * next, so that one flush serves many appends.
 *
 * <p>On the shard's loop, except for the flushes themselves.
 */
public final class Flusher {
    /** How often the partitions with an interval are checked; shorter intervals are rounded up to it. */
    private static final long TICK_MS = 50;

    /**
     * Minimum time between two log lines about flushes that cannot start, because there may be very many partitions.
     */
    private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long NONE = Long.MIN_VALUE;

    private static final Logger log = LoggerFactory.getLogger(Flusher.class);

    /** More than a disk runs concurrently; each uses a thread of the blocking pool. */
    private static final int MOST_FLUSHES_AT_ONCE = 8;

    /**
     * Maximum number of partitions in a round that no append waits for, because the appends that wait for the round
     * have to wait for these too.
     */
    private static final int MOST_UNAWAITED_IN_A_ROUND = 16;

    private final LoopCycle cycle;
    private final Executor blockingPool;
    private final FlushSchedule<Target> later = new FlushSchedule<>();
    private final Set<Target> next = new LinkedHashSet<>();
    private final Runnable startRound = this::startRound;

    /** When the oldest record that is not durable was written, in the loop's nanoseconds; the oldest comes first. */
    private final Map<Target, Long> unsyncedSince = new LinkedHashMap<>();

    /** The first of these times; {@link #NONE} if everything is durable. */
    private volatile long oldestUnsyncedNanos = NONE;

    private boolean roundRuns;
    private boolean roundRegistered;
    private boolean ticks;
    /** When a flush that could not start was last logged. */
    private long loggedNanos;

    /** A partition whose journal is flushed. All methods run on the shard's loop unless they say otherwise. */
    interface Target {
        /** The name for log lines. Any thread. */
        TopicPartition name();

        /** The journal's directory. Any thread. */
        Path directory();

        /** Whether everything that is written survives a power loss. */
        boolean isDurable();

        /** Whether appends or callers wait for a flush of the journal. */
        boolean isFlushAwaited();

        /**
         * Flushes the journal. Any thread; blocks.
         *
         * @return everything before this offset is now on the disk
         */
        long flushJournal() throws IOException;

        /** Everything before {@code flushedOffset} is on the disk. */
        void onFlushed(long flushedOffset);

        /** The flush failed, or could not start ({@link SyncNotBegunException}). */
        void onFlushFailure(IOException failure);
    }

    /** The result of one partition's flush. */
    private record Outcome(Target partition, long flushedOffset, IOException failure) {}

    public Flusher(LoopCycle cycle, Executor blockingPool) {
        this.cycle = cycle;
        this.blockingPool = blockingPool;
        this.loggedNanos = cycle.loop().nanoTime() - LOG_INTERVAL_NANOS;
    }

    /**
     * Called when a partition's journal was written.
     *
     * @param intervalMs maximum time until it is flushed if no append waits for it, in milliseconds
     */
    void onWritten(Target partition, long intervalMs) {
        if (!unsyncedSince.containsKey(partition) && !partition.isDurable()) {
            unsyncedSince.put(partition, cycle.loop().nanoTime());
            publishOldest();
        }
        if (partition.isFlushAwaited()) {
            flushSoon(partition);
        } else {
            flushLater(partition, intervalMs);
        }
    }

    /** Called when more of a partition is durable, without a flush of its journal. */
    void onDurable(Target partition) {
        onDurable(partition, cycle.loop().nanoTime());
    }

    /** @param sinceNanos all records that are not durable were written after this time */
    private void onDurable(Target partition, long sinceNanos) {
        if (unsyncedSince.remove(partition) != null) {
            if (!partition.isDurable()) {
                unsyncedSince.put(partition, sinceNanos);
            }
            publishOldest();
        }
    }

    /**
     * How long the oldest record that is not durable has been waiting, in nanoseconds; 0 if there is none. Any thread.
     */
    public long oldestUnsyncedAgeNanos() {
        long since = oldestUnsyncedNanos;
        return since == NONE ? 0 : Math.max(0, cycle.loop().nanoTime() - since);
    }

    private void publishOldest() {
        Iterator<Long> oldest = unsyncedSince.values().iterator();
        oldestUnsyncedNanos = oldest.hasNext() ? oldest.next() : NONE;
    }

    /** Flushes a partition's journal in the next round. */
    void flushSoon(Target partition) {
        next.add(partition);
        if (!roundRegistered && !roundRuns) {
            roundRegistered = true;
            cycle.onWakeUp(startRound);
        }
    }

    /**
     * Called when a partition's flush could not start, because there was no file handle or no thread: retries after an
     * interval.
     */
    void onNotBegun(Target partition, IOException reason, long retryIntervalMs) {
        long nowNanos = cycle.loop().nanoTime();
        if (nowNanos - loggedNanos >= LOG_INTERVAL_NANOS) {
            loggedNanos = nowNanos;
            log.warn("cannot flush, retrying: partition={} reason=\"{}\"", partition.name(), reason.getMessage());
        }
        // Data that the write-ahead files cover may already have waited for much longer.
        later.remove(partition);
        flushLater(partition, retryIntervalMs);
    }

    private void flushLater(Target partition, long intervalMs) {
        if (later.add(
                partition,
                TimeUnit.MILLISECONDS.toNanos(intervalMs),
                cycle.loop().nanoTime())) {
            startTicks();
        }
    }

    /** Flushes a partition's journal without delay. */
    void flushNow(Target partition) {
        later.remove(partition);
        next.add(partition);
        startRound();
    }

    /** Called when a partition left the shard. */
    void forget(Target partition) {
        later.remove(partition);
        next.remove(partition);
        if (unsyncedSince.remove(partition) != null) {
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
            round.partitions.forEach(partition -> inform(notBegun(partition, busy), 0));
        }
    }

    private List<Target> takeNext() {
        List<Target> taken = new ArrayList<>();
        int unawaited = 0;
        for (Iterator<Target> all = next.iterator(); all.hasNext(); ) {
            Target partition = all.next();
            if (partition.isFlushAwaited() || unawaited++ < MOST_UNAWAITED_IN_A_ROUND) {
                taken.add(partition);
                all.remove();
            }
        }
        return taken;
    }

    /**
     * The flushes of one round. If appends wait for it, several flushes run concurrently: the disk handles them
     * together, and the round takes as long as the longest flush instead of their sum. In the blocking pool.
     */
    private final class Round implements Runnable {
        private final List<Target> partitions;
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger unfinished;
        private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
        private final long beginNanos = cycle.loop().nanoTime();

        Round(List<Target> partitions) {
            this.partitions = partitions;
            this.unfinished = new AtomicInteger(partitions.size());
        }

        void start() {
            boolean awaited = partitions.stream().anyMatch(Target::isFlushAwaited);
            blockingPool.execute(this);
            for (int i = 1; awaited && i < Math.min(partitions.size(), MOST_FLUSHES_AT_ONCE); i++) {
                try {
                    blockingPool.execute(this);
                } catch (RejectedExecutionException busy) {
                    // The running flushes do the rest.
                    return;
                }
            }
        }

        @Override
        public void run() {
            for (int i = begun.getAndIncrement(); i < partitions.size(); i = begun.getAndIncrement()) {
                outcomes.add(flush(partitions.get(i)));
                if (unfinished.decrementAndGet() == 0) {
                    cycle.execute(() -> endRound(outcomes, beginNanos));
                }
            }
        }
    }

    private static Outcome flush(Target partition) {
        try {
            return new Outcome(partition, partition.flushJournal(), null);
        } catch (IOException failure) {
            return new Outcome(partition, 0, failure);
        } catch (RuntimeException | Error defect) {
            // The journal reported no failed sync, and the shard's other partitions are still flushed.
            log.error("unexpected failure of a flush, retrying: partition={}", partition.name(), defect);
            return notBegun(partition, defect);
        }
    }

    private static Outcome notBegun(Target partition, Throwable reason) {
        return new Outcome(
                partition,
                0,
                new SyncNotBegunException(partition.directory(), new IOException(reason.toString(), reason)));
    }

    private void endRound(Queue<Outcome> outcomes, long beginNanos) {
        roundRuns = false;
        outcomes.forEach(outcome -> inform(outcome, beginNanos));
        startRound();
    }

    private void inform(Outcome outcome, long beginNanos) {
        Target partition = outcome.partition();
        try {
            if (outcome.failure() != null) {
                partition.onFlushFailure(outcome.failure());
            } else {
                partition.onFlushed(outcome.flushedOffset());
                onDurable(partition, beginNanos);
            }
        } catch (RuntimeException | Error defect) {
            // The partitions that were flushed together with it are informed anyway.
            log.error("unexpected failure after a flush: partition={}", partition.name(), defect);
        }
    }
}
