package io.journalq.server.shard.healing;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ReadReplicaRequest;
import io.journalq.common.protocol.message.ReadReplicaResponse;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.HealablePartition;
import io.journalq.server.shard.partition.PartitionHost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Heals damaged segments of the replicas of this broker, one after another: reads the batches of the segment from
 * another in-sync replica, checks them, and replaces the segment. A leader heals in the same way, from a follower. Until
 * then, reads of the damaged records fail. What cannot be healed is tried again after a pause.
 *
 * <p>Any thread.
 */
public final class ReplicaHealer implements DamageListener {
    private static final Logger log = LoggerFactory.getLogger(ReplicaHealer.class);

    /**
     * Time until the second attempt, which is enough if a connection has broken. It doubles: another broker may be down, or
     * the segment not closed yet.
     */
    private static final long FIRST_RETRY_MS = 1_000;

    private static final long LAST_RETRY_MS = 3_600_000;
    private static final int MOST_DOUBLINGS = 12;

    /** Maximum number of known places of damage. Further ones are found again later. */
    private static final int MAX_PLACES = 1_000;

    private static final int READ_REPLICA_VERSION = 0;
    private static final int MAX_BYTES = 1 << 20;
    private static final int TIMEOUT_MS = 10_000;

    private final Shards shards;
    private final Executor blockingPool;
    private final FutureWaiter waiting;
    /** Null for a broker that is alone. */
    private final PeerRequests peers;

    private final HealingCounters counters = new HealingCounters();
    private final Map<Place, State> places = new LinkedHashMap<>();

    /** Number of failed attempts, of the places that wait for another one. */
    private final Map<Place, Integer> failed = new HashMap<>();

    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private boolean working;
    private boolean stopped;

    /** Damage at or behind an offset. */
    private record Place(Uuid topicId, int partition, long offset) {}

    /** What is known of a place of damage. */
    private enum State {
        NEW,
        /** It could not be healed, and waits for the next attempt. */
        WAITS,
        /** The next attempt is due. */
        AGAIN
    }

    /**
     * Creates a healer.
     *
     * @param waiting how a thread of the pool waits for a loop
     * @param peers requests to other brokers; null for a broker that is alone, which only reports damage
     */
    public ReplicaHealer(Shards shards, Executor blockingPool, FutureWaiter waiting, PeerRequests peers) {
        this.shards = shards;
        this.blockingPool = blockingPool;
        this.waiting = waiting;
        this.peers = peers;
    }

    public HealingCounters counters() {
        return counters;
    }

    @Override
    public synchronized void onDamage(Uuid topicId, int partition, long offset) {
        Place place = new Place(topicId, partition, offset);
        if (!stopped && places.size() < MAX_PLACES && places.putIfAbsent(place, State.NEW) == null) {
            counters.setUnhealed(places.size());
            work();
        }
    }

    private synchronized void work() {
        if (working || stopped) {
            return;
        }
        working = true;
        try {
            blockingPool.execute(this::healAll);
        } catch (RejectedExecutionException noThread) {
            working = false;
            later(this::work, FIRST_RETRY_MS);
        }
    }

    /** Waits until a segment that is being healed is done, and heals no more. */
    public void close() {
        synchronized (this) {
            stopped = true;
            if (!working) {
                ended.complete(null);
            }
        }
        waiting.join(ended);
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    private void healAll() {
        for (Place place = next(); place != null; place = next()) {
            boolean done = true;
            try {
                done = heal(place);
            } catch (OutOfMemoryError noDirectMemory) {
                log.error("cannot heal damage, retrying later: place={}", place, noDirectMemory);
                done = false;
            } catch (RuntimeException | LinkageError defect) {
                // The work must end, or the broker could not stop.
                log.error("unexpected failure of healing: place={}", place, defect);
            }
            onAttempt(place, done);
        }
    }

    /** The next place; null if there is none, so that the work ends. */
    private synchronized Place next() {
        if (!stopped) {
            for (Map.Entry<Place, State> entry : places.entrySet()) {
                if (entry.getValue() != State.WAITS) {
                    return entry.getKey();
                }
            }
        }
        working = false;
        if (stopped) {
            ended.complete(null);
        }
        return null;
    }

    private synchronized void onAttempt(Place place, boolean done) {
        if (done) {
            places.remove(place);
            failed.remove(place);
        } else {
            long delayMs = retryMs(place);
            failed.merge(place, 1, Integer::sum);
            places.put(place, State.WAITS);
            later(() -> retry(place), delayMs);
        }
        counters.setUnhealed(places.size());
    }

    private void later(Runnable work, long delayMs) {
        LoopCycle first = shards.all().get(0).cycle();
        first.execute(() -> first.loop().schedule(work, delayMs));
    }

    private synchronized long retryMs(Place place) {
        return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS << Math.min(MOST_DOUBLINGS, failed.getOrDefault(place, 0)));
    }

    private synchronized void retry(Place place) {
        if (places.replace(place, State.WAITS, State.AGAIN)) {
            work();
        }
    }

    private synchronized boolean isNew(Place place) {
        return places.get(place) == State.NEW;
    }

    /** Returns false if the place has to be tried again. */
    private boolean heal(Place place) {
        Shard shard = shards.shardOf(place.topicId(), place.partition());
        HealablePartition partition = waiting.join(shard.cycle().ask(() -> {
            PartitionHost host = shard.host(place.topicId(), place.partition());
            return host == null || host.isOffline() ? null : host.healable();
        }));
        if (partition == null) {
            return true;
        }
        try {
            CheckedRange checked = partition.check(place.offset());
            if (checked == null || !checked.isDamaged()) {
                return true;
            }
            if (isNew(place)) {
                onFound(partition, checked);
            }
            return peers != null && heal(place, shard.cycle(), partition, checked.endOffset());
        } catch (IOException failure) {
            onFailure(place, partition, place.offset(), failure.getMessage());
            return false;
        }
    }

    private void onFound(HealablePartition partition, CheckedRange checked) {
        counters.onFound();
        if (peers == null) {
            log.error(
                    "found damage, and no other broker has the records; restore them from a backup:"
                            + " partition={} offset={} endOffset={}",
                    partition.name(),
                    checked.endOffset(),
                    checked.damagedUntil());
        } else {
            log.warn(
                    "found damage: partition={} offset={} endOffset={}",
                    partition.name(),
                    checked.endOffset(),
                    checked.damagedUntil());
        }
    }

    private boolean heal(Place place, LoopCycle cycle, HealablePartition partition, long offset) {
        String reason = "it has no other in-sync replica";
        for (int broker : partition.sources()) {
            if (isStopped()) {
                return false;
            }
            try {
                long startNanos = System.nanoTime();
                if (partition.heal(cycle, waiting, offset, (from, end) -> read(broker, place, from, end))) {
                    counters.onHealed();
                    log.info(
                            "healed a segment: partition={} offset={} from={} tookMs={}",
                            partition.name(),
                            offset,
                            broker,
                            (System.nanoTime() - startNanos) / 1_000_000);
                    return true;
                }
                reason = "the log has changed meanwhile";
            } catch (IOException failure) {
                reason = "broker " + broker + ": " + failure.getMessage();
            }
        }
        onFailure(place, partition, offset, reason);
        return false;
    }

    private void onFailure(Place place, HealablePartition partition, long offset, String reason) {
        counters.onFailure();
        log.error(
                "cannot heal damage, retrying later: partition={} offset={} retryMs={} reason=\"{}\"",
                partition.name(),
                offset,
                retryMs(place),
                reason);
    }

    /** Reads batches of another replica. Blocks. */
    private ByteBuf read(int broker, Place place, long offset, long endOffset) throws IOException {
        if (isStopped()) {
            throw new IOException("this broker is stopping");
        }
        ReadReplicaRequest request = new ReadReplicaRequest()
                .setTopicId(place.topicId())
                .setPartition(place.partition())
                .setOffset(offset)
                .setEndOffset(endOffset)
                .setMaxBytes(MAX_BYTES)
                .setWithRecords(true);
        try {
            Copy copy = waiting.join(
                    peers.send(broker, request, READ_REPLICA_VERSION, TIMEOUT_MS, response -> copy(offset, response)));
            if (copy.batches() == null) {
                throw new IOException(copy.reason());
            }
            return copy.batches();
        } catch (CompletionException failure) {
            throw new IOException(failure.getCause().getMessage(), failure);
        }
    }

    /** Batches of another replica, or why there are none. */
    private record Copy(ByteBuf batches, String reason) {}

    /** On the loop. The buffer of the response lives only now. */
    private static Copy copy(long offset, ApiMessage message) {
        ReadReplicaResponse response = (ReadReplicaResponse) message;
        ErrorCode error = ErrorCode.of(response.errorCode());
        if (error != ErrorCode.NONE) {
            return new Copy(null, error + (response.errorMessage() == null ? "" : ", " + response.errorMessage()));
        }
        if (response.mayHaveGaps()) {
            return new Copy(null, "its replica may be compacted");
        }
        if (response.startOffset() > offset) {
            return new Copy(null, "its replica begins at offset " + response.startOffset());
        }
        if (response.batches() == 0 || response.records() == null) {
            return new Copy(
                    null,
                    response.damagedUntil() >= 0
                            ? "its replica is damaged, too"
                            : "its replica knows the high watermark " + response.highWatermark());
        }
        return new Copy(Unpooled.copiedBuffer(response.records().buffer()), null);
    }
}
