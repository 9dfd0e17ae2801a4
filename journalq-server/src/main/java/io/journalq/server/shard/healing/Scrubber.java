package io.journalq.server.shard.healing;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.HealablePartition;
import io.journalq.server.shard.partition.PartitionHost;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads all records of the replicas of this broker from time to time, so that damage is found while another replica
 * still has what is damaged. Reads one partition after another, in steps that keep to a rate.
 *
 * <p>Any thread. The steps run one after another on threads that may block.
 */
public final class Scrubber {
    private static final Logger log = LoggerFactory.getLogger(Scrubber.class);

    /** Time from the start of the broker to the first pass, unless the interval is shorter. */
    private static final long FIRST_DELAY_MS = TimeUnit.HOURS.toMillis(1);

    private static final int STEP_BYTES = 1 << 20;

    private final Shards shards;
    private final Executor blockingPool;
    private final FutureWaiter waiting;
    private final DamageListener damage;
    private final long intervalMs;
    private final long bytesPerSecond;

    private final AtomicLong readBytes = new AtomicLong();
    private final AtomicLong passes = new AtomicLong();

    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private boolean working;
    private boolean stopped;

    /** The pass. Used by one step at a time; each begins after the one before has ended. */
    private final Deque<Place> left = new ArrayDeque<>();

    private Place current;
    private boolean passing;
    private long begunNanos;
    private int partitions;
    private long begunBytes;
    private int damagedRanges;

    /** What is read next: records of a replica from an offset on. */
    private record Place(Uuid topicId, int partition, TopicPartition name, long offset) {}

    /**
     * Creates a scrubber, which reads nothing before {@link #start}.
     *
     * @param waiting how a thread of the pool waits for a loop
     * @param damage learns of damage
     * @param intervalMs time from the beginning of a pass to that of the next, in milliseconds; 0 for none
     * @param bytesPerSecond how much is read
     */
    public Scrubber(
            Shards shards,
            Executor blockingPool,
            FutureWaiter waiting,
            DamageListener damage,
            long intervalMs,
            long bytesPerSecond) {
        this.shards = shards;
        this.blockingPool = blockingPool;
        this.waiting = waiting;
        this.damage = damage;
        this.intervalMs = intervalMs;
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Size of the batches that were read since the broker started. */
    public long readBytes() {
        return readBytes.get();
    }

    /** Number of passes that have ended since the broker started. */
    public long passes() {
        return passes.get();
    }

    /** Begins the first pass after some time. Called once. */
    public void start() {
        if (intervalMs > 0) {
            schedule(Math.min(intervalMs, FIRST_DELAY_MS));
        }
    }

    /** Waits until a step that is running is done, and begins no more. */
    public void close() {
        synchronized (this) {
            stopped = true;
            if (!working) {
                ended.complete(null);
            }
        }
        waiting.join(ended);
    }

    private void schedule(long delayMs) {
        LoopCycle first = shards.all().get(0).cycle();
        first.execute(() -> first.loop().schedule(this::work, delayMs));
    }

    private synchronized void work() {
        if (stopped) {
            return;
        }
        working = true;
        try {
            blockingPool.execute(this::step);
        } catch (RejectedExecutionException overloaded) {
            working = false;
            schedule(intervalMs);
        }
    }

    private void step() {
        long delayMs = intervalMs;
        try {
            delayMs = advance();
        } catch (RuntimeException | OutOfMemoryError | LinkageError defect) {
            // Such as too little direct memory. Without the next step, the broker could not stop either.
            log.error("unexpected failure of the scrub", defect);
            passing = false;
        }
        synchronized (this) {
            working = false;
            if (stopped) {
                ended.complete(null);
            } else {
                schedule(delayMs);
            }
        }
    }

    /** Reads a little. Returns the time until the next step, in milliseconds. */
    private long advance() {
        if (!passing) {
            beginPass();
        }
        if (current == null) {
            current = left.poll();
        }
        return current == null ? endPass() : read(current);
    }

    private void beginPass() {
        passing = true;
        begunNanos = nanoTime();
        begunBytes = readBytes.get();
        damagedRanges = 0;
        current = null;
        left.clear();
        for (Shard shard : shards.all()) {
            left.addAll(waiting.join(shard.cycle().ask(() -> places(shard))));
        }
        partitions = left.size();
    }

    private static List<Place> places(Shard shard) {
        return shard.hosts().stream()
                .filter(host -> !host.isOffline())
                .map(host -> new Place(host.topicId(), host.name().partition(), host.name(), 0))
                .toList();
    }

    private long endPass() {
        passing = false;
        passes.incrementAndGet();
        long tookMs = TimeUnit.NANOSECONDS.toMillis(nanoTime() - begunNanos);
        log.info(
                "scrubbed all replicas: partitions={} bytes={} damaged={} tookMs={}",
                partitions,
                readBytes.get() - begunBytes,
                damagedRanges,
                tookMs);
        return Math.max(0, intervalMs - tookMs);
    }

    private long nanoTime() {
        return shards.all().get(0).cycle().loop().nanoTime();
    }

    private long read(Place place) {
        Shard shard = shards.shardOf(place.topicId(), place.partition());
        HealablePartition partition = waiting.join(shard.cycle().ask(() -> {
            PartitionHost host = shard.host(place.topicId(), place.partition());
            return host == null || host.isOffline() ? null : host.healable();
        }));
        current = null;
        if (partition == null) {
            return 0;
        }
        try {
            CheckedRange checked = partition.checkFrom(place.offset(), STEP_BYTES);
            if (checked == null) {
                return 0;
            }
            readBytes.addAndGet(checked.sizeBytes());
            long next = checked.endOffset();
            if (checked.isDamaged()) {
                damagedRanges++;
                damage.onDamage(place.topicId(), place.partition(), checked.endOffset());
                next = checked.damagedUntil();
            }
            if (next > place.offset()) {
                current = new Place(place.topicId(), place.partition(), place.name(), next);
            }
            return checked.sizeBytes() * TimeUnit.SECONDS.toMillis(1) / bytesPerSecond;
        } catch (IOException failure) {
            log.warn(
                    "cannot scrub a replica: partition={} offset={} reason=\"{}\"",
                    place.name(),
                    place.offset(),
                    failure.getMessage());
            return 0;
        }
    }
}
