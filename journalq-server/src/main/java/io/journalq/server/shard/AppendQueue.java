package io.journalq.server.shard;

import io.journalq.common.protocol.ErrorCode;
import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends of one partition, in their order, from a batch on that a loop does not look into itself: while a thread that may
 * block does, everything behind it waits, markers too. What waits is part of requests, which are bounded. On the
 * partition's loop.
 */
final class AppendQueue {
    private static final Logger log = LoggerFactory.getLogger(AppendQueue.class);

    /** What may be decided in one go. */
    private static final int MOST_AT_ONCE_BYTES = 1 << 20;

    private final Shard shard;
    private final PartitionHost host;

    /** The first is being looked into, or is about to be decided. Null until the first time that one waits. */
    private ArrayDeque<Append> waiting;

    AppendQueue(Shard shard, PartitionHost host) {
        this.shard = shard;
        this.host = host;
    }

    /** Whether an append has to wait here. */
    boolean isBusy() {
        return waiting != null && !waiting.isEmpty();
    }

    void add(Append append) {
        waiting.add(append);
    }

    /** Begins with a batch that is too large. */
    void begin(Append append) {
        if (waiting == null) {
            waiting = new ArrayDeque<>(1);
        }
        waiting.add(append);
        check(append);
    }

    private void check(Append append) {
        LargeBatchCheck check = new LargeBatchCheck(
                append, host.settings(), shard.times().clock().millis());
        shard.cycle().counters().onCheckedElsewhere();
        shard.largeBatches().add(room -> {
            check.accept(room);
            if (!shard.cycle().enqueue(() -> onChecked(check))) {
                check.drop();
            }
        });
    }

    private void onChecked(LargeBatchCheck check) {
        try {
            host.decide(check);
        } catch (RuntimeException | Error failure) {
            giveUp(check.append(), failure);
        }
        waiting.remove();
        goOn();
    }

    private boolean decide(Append append) {
        try {
            return host.decide(append);
        } catch (RuntimeException | Error failure) {
            giveUp(append, failure);
            return true;
        }
    }

    /** For want of memory, or by a defect. The appends behind this one must not wait for ever. */
    private void giveUp(Append append, Throwable failure) {
        log.error("cannot decide about a batch: partition={}", host.name(), failure);
        append.refuse(ErrorCode.KAFKA_STORAGE_ERROR, "the broker cannot append the batch");
    }

    private void goOn() {
        int decidedBytes = 0;
        while (!waiting.isEmpty()) {
            if (decidedBytes > MOST_AT_ONCE_BYTES) {
                shard.cycle().enqueue(this::goOn);
                return;
            }
            Append next = waiting.peek();
            if (!next.isAwaited()) {
                // Clients that are gone may have left thousands behind.
                next.refuse(ErrorCode.NETWORK_EXCEPTION, null);
                waiting.remove();
                continue;
            }
            int sizeBytes = next.records() == null ? 0 : next.records().readableBytes();
            if (!decide(next)) {
                check(next);
                return;
            }
            waiting.remove();
            decidedBytes += sizeBytes;
        }
    }
}
