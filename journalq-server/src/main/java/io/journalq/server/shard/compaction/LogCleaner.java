package io.journalq.server.shard.compaction;

import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.CompactablePartition;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.PartitionHost.CompactionFailure;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts partitions, the dirtiest first. Checks all partitions and compacts those that are due on a limited number of
 * the threads for blocking work. Then it checks again: at once if there was something to do, otherwise after a pause. A
 * partition whose compaction fails is counted and skipped for a while.
 *
 * <p>Any thread.
 */
public final class LogCleaner {
    private static final Logger log = LoggerFactory.getLogger(LogCleaner.class);

    /** A damaged log stays damaged, but a full disk may have room again. */
    private static final long RETRY_FAILED_MS = 600_000;

    private static final long SOON_MS = 1;

    private final Shards shards;
    private final Executor blockingPool;
    private final Clock clock;
    private final FutureWaiter waiting;
    private final CleanerLimits limits;
    private final Supplier<KeyOffsets> memory;
    private final CleanerCounters counters;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private boolean roundRuns;
    private volatile boolean stopped;

    /** A partition that is due. */
    private record Candidate(LoopCycle cycle, PartitionHost host, CompactionDebt debt) {}

    /**
     * Creates a cleaner that is not started.
     *
     * @param memory creates an empty table of keys for one compaction at a time
     */
    public LogCleaner(
            Shards shards, CleanerSurroundings surroundings, CleanerLimits limits, Supplier<KeyOffsets> memory) {
        this.shards = shards;
        this.blockingPool = surroundings.blockingPool();
        this.clock = surroundings.clock();
        this.waiting = surroundings.waiting();
        this.limits = limits;
        this.memory = memory;
        this.counters = new CleanerCounters(clock.millis());
    }

    public CleanerCounters counters() {
        return counters;
    }

    /** Starts the cleaner. The first check is after a pause, because the broker is busy while it starts. */
    public void start() {
        scheduleRound(limits.backoffMs());
    }

    private void scheduleRound(long delayMs) {
        LoopCycle first = shards.all().get(0).cycle();
        if (!first.execute(() -> first.loop().schedule(this::round, delayMs))) {
            ended.complete(null);
        }
    }

    /** Cancels the current compactions and waits for them. Completed parts stay compacted. */
    public void close() {
        synchronized (this) {
            stopped = true;
            if (!roundRuns) {
                ended.complete(null);
            }
        }
        waiting.join(ended);
    }

    private void round() {
        synchronized (this) {
            if (stopped) {
                return;
            }
            roundRuns = true;
        }
        Queue<Candidate> due = new ConcurrentLinkedQueue<>();
        try {
            CompletableFuture<Integer> unused = look().thenAcceptAsync(
                            found -> {
                                found.sort(Comparator.comparing((Candidate candidate) ->
                                                candidate.debt().overdue())
                                        .thenComparing(
                                                candidate -> candidate.debt().dirtyRatio())
                                        .reversed());
                                due.addAll(found);
                            },
                            blockingPool)
                    .thenCompose(sorted -> work(due))
                    .whenComplete((compacted, failure) -> endRound(compacted, failure));
        } catch (RuntimeException rejected) {
            endRound(0, rejected);
        }
    }

    private void endRound(Integer compacted, Throwable failure) {
        if (failure != null) {
            log.error("compaction failed", failure);
        }
        synchronized (this) {
            roundRuns = false;
            if (stopped) {
                ended.complete(null);
                return;
            }
        }
        scheduleRound(failure == null && compacted > 0 ? SOON_MS : limits.backoffMs());
    }

    /** Collects the partitions of all shards that are due. */
    private CompletableFuture<List<Candidate>> look() {
        long nowMs = clock.millis();
        List<CompletableFuture<Look>> looks = new ArrayList<>();
        for (Shard shard : shards.all()) {
            looks.add(shard.cycle().ask(() -> look(shard, nowMs)));
        }
        return CompletableFuture.allOf(looks.toArray(new CompletableFuture<?>[0]))
                .thenApply(all -> {
                    List<Candidate> due = new ArrayList<>();
                    double maxRatio = 0;
                    int failed = 0;
                    for (CompletableFuture<Look> seen : looks) {
                        Look one = seen.join();
                        due.addAll(one.due());
                        maxRatio = Math.max(maxRatio, one.maxRatio());
                        failed += one.failed();
                    }
                    counters.onLook(nowMs, maxRatio, failed);
                    return due;
                });
    }

    /** The result for one shard. */
    private record Look(List<Candidate> due, double maxRatio, int failed) {}

    private static Look look(Shard shard, long nowMs) {
        List<Candidate> due = new ArrayList<>();
        double maxRatio = 0;
        int failed = 0;
        for (PartitionHost host : shard.hosts()) {
            if (!host.compactionConfig().enabled() || host.isOffline()) {
                continue;
            }
            CompactionDebt debt = host.compactionDebt(nowMs);
            maxRatio = Math.max(maxRatio, debt.dirtyRatio());
            CompactionFailure failure = host.compactionFailure();
            failed += failure == null ? 0 : 1;
            boolean waits = failure != null && nowMs - failure.failedMs() < RETRY_FAILED_MS;
            if (!waits && debt.isDue(host.compactionConfig())) {
                due.add(new Candidate(shard.cycle(), host, debt));
            }
        }
        return new Look(due, maxRatio, failed);
    }

    /** Returns the number of partitions that shrank or needed no compaction. */
    private CompletableFuture<Integer> work(Queue<Candidate> due) {
        List<CompletableFuture<Integer>> workers = new ArrayList<>();
        int count = Math.min(limits.threads(), due.size());
        for (int i = 0; i < count; i++) {
            workers.add(CompletableFuture.supplyAsync(() -> compactAll(due), blockingPool));
        }
        return CompletableFuture.allOf(workers.toArray(new CompletableFuture<?>[0]))
                .thenApply(all ->
                        workers.stream().mapToInt(CompletableFuture::join).sum());
    }

    private int compactAll(Queue<Candidate> due) {
        KeyOffsets keys = memory.get();
        int compacted = 0;
        for (Candidate next = due.poll(); next != null && !stopped; next = due.poll()) {
            compacted += compact(next, keys) ? 1 : 0;
        }
        return compacted;
    }

    private boolean compact(Candidate candidate, KeyOffsets keys) {
        PartitionHost host = candidate.host();
        try {
            CompactablePartition partition =
                    waiting.join(candidate.cycle().ask(() -> host.isClosed() ? null : host.compactable()));
            if (partition == null) {
                return false;
            }
            long startNanos = System.nanoTime();
            CompactionResult result =
                    partition.compact(candidate.cycle(), waiting, shards.retentionNowMs(), keys, () -> stopped);
            counters.onRun(result.readSizeBytes(), result.freedSizeBytes());
            setFailure(candidate, null);
            log.info(
                    "compacted: partition={} readBytes={} freedBytes={} passes={} tookMs={}",
                    host.name(),
                    result.readSizeBytes(),
                    result.freedSizeBytes(),
                    result.passes(),
                    (System.nanoTime() - startNanos) / 1_000_000);
            return result.passes() > 0;
        } catch (IOException | RuntimeException | OutOfMemoryError | LinkageError failure) {
            // Also after an error, such as of a codec that cannot be loaded: the next partitions have their turn.
            if (!stopped && !host.isClosed()) {
                counters.onFailure();
                log.error(
                        "cannot compact, retrying later: partition={} retryMs={}",
                        host.name(),
                        RETRY_FAILED_MS,
                        failure);
                setFailure(candidate, new CompactionFailure(clock.millis(), String.valueOf(failure.getMessage())));
            }
            return false;
        }
    }

    private static void setFailure(Candidate candidate, CompactionFailure failure) {
        candidate.cycle().execute(() -> candidate.host().setCompactionFailure(failure));
    }

    /**
     * Limits of compaction.
     *
     * @param threads maximum number of concurrent compactions
     * @param keyMemoryBytes maximum memory for keys of all compactions together
     * @param backoffMs pause when there is nothing to do, in milliseconds
     */
    public record CleanerLimits(int threads, long keyMemoryBytes, long backoffMs) {}

    /**
     * The environment of compaction.
     *
     * @param blockingPool runs compactions
     * @param clock the time of day
     * @param waiting how a thread of the pool waits for a loop
     */
    public record CleanerSurroundings(Executor blockingPool, Clock clock, FutureWaiter waiting) {}
}
