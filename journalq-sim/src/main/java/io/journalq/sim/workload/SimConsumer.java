package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import java.util.HashSet;
import java.util.Set;

/**
 * Reads one partition from its beginning, batch by batch, and continues at its position after a restart of the broker.
 */
public final class SimConsumer {
    private static final String INVARIANT = "ConsumersSkipNothing";
    private static final int LONGEST_PAUSE_MS = 30;
    private static final int MAX_WAIT_MS = 100;
    private static final int[] SIZES = {1, 300, 1_000, 1 << 20};

    private final World world;
    private final PartitionHistory partition;
    private final boolean readCommitted;
    private SimBroker.Connection connection;
    private long position;
    private int leaderEpoch = -1;
    private long lastLogStart;

    /** @param readCommitted whether to read only committed records */
    public SimConsumer(World world, PartitionHistory partition, boolean readCommitted) {
        this.readCommitted = readCommitted;
        this.world = world;
        this.partition = partition;
    }

    PartitionHistory partition() {
        return partition;
    }

    /** Offset of the next record to read. */
    long position() {
        return position;
    }

    /** Leader epoch of the last record that was read; -1 if it is not known. */
    int leaderEpoch() {
        return leaderEpoch;
    }

    /** Whether the topic was deleted. */
    public boolean isDone() {
        return partition.isGone();
    }

    /** A life of the broker begins. */
    public void onStart() {
        connection = world.broker().connect();
        lastLogStart = 0;
        pause();
    }

    private void pause() {
        world.later(LONGEST_PAUSE_MS, this::fetch);
    }

    private void fetch() {
        if (partition.isGone()) {
            return;
        }
        long from = position;
        int wait = world.random().nextBoolean() ? MAX_WAIT_MS : 0;
        int maxBytes = SIZES[world.random().nextInt(SIZES.length)];
        LogReader.Ask ask = new LogReader.Ask(partition, from, leaderEpoch, wait, maxBytes, readCommitted);
        connection.send(ApiKey.FETCH, LogReader.FETCH_VERSION, ask.request(), message -> {
            LogReader.Page page = message instanceof FetchResponse response ? LogReader.read(ask, response) : null;
            if (page != null) {
                checkComplete(from, page);
                world.onRead(partition, page.records(), readCommitted);
                world.did(
                        readCommitted ? Work.COMMITTED_RECORDS_READ : Work.RECORDS_READ,
                        page.records().size());
                checkLogStart(page.bounds().logStartOffset());
            }
            world.deliver(() -> onPage(page));
        });
    }

    /** The consumer goes on behind a page: what is known to be before that, and is not shown, it never gets. */
    private void checkComplete(long from, LogReader.Page page) {
        long first = Math.max(from, page.bounds().logStartOffset());
        if (page.error() != ErrorCode.NONE
                || first >= page.nextOffset()
                || world.isHarmed()
                || partition.plan().isCompacted()) {
            return;
        }
        Set<Long> shown = new HashSet<>();
        page.records().forEach(record -> shown.add(record.offset()));
        partition.seen().subMap(first, page.nextOffset()).forEach((offset, seen) -> {
            if (!shown.contains(offset) && !mayBeHidden(seen)) {
                world.report(
                        INVARIANT,
                        partition + " holds " + seen + " at " + offset + ", which a fetch from " + from
                                + (readCommitted ? " of committed records" : "") + " skips; it goes on from "
                                + page.nextOffset());
            }
        });
    }

    /** Records of transactions that are not committed, and records that were in memory only when a write failed. */
    private boolean mayBeHidden(PartitionHistory.Seen seen) {
        SentTransaction transaction = seen.record().transaction();
        return (readCommitted && transaction != null && !transaction.isCommitted())
                || (partition.isAcknowledgedFromMemory() && seen.leaderEpoch() < 0);
    }

    /** Responses to one reader are in order, so the log start offset must not decrease. */
    private void checkLogStart(long logStartOffset) {
        if (logStartOffset >= 0) {
            if (logStartOffset < lastLogStart) {
                world.report(
                        "LogStartNeverMovesBack",
                        partition + " began at " + lastLogStart + ", and now at " + logStartOffset);
            }
            lastLogStart = logStartOffset;
            partition.onLogStart(logStartOffset);
        }
    }

    private void onPage(LogReader.Page page) {
        if (page != null && page.diverging() != null && page.diverging().epoch() >= 0) {
            position = Math.min(position, page.diverging().endOffset());
            leaderEpoch = page.diverging().epoch();
        } else if (page != null && page.error() == ErrorCode.NONE) {
            position = Math.max(position, page.nextOffset());
            leaderEpoch = page.lastEpoch() >= 0 ? page.lastEpoch() : leaderEpoch;
        } else if (page != null && page.error() == ErrorCode.OFFSET_OUT_OF_RANGE) {
            // The record was lost or deleted. The checks decide whether that was allowed.
            position = Math.max(
                    page.bounds().logStartOffset(),
                    Math.min(position, page.bounds().highWatermark()));
            leaderEpoch = -1;
        }
        pause();
    }
}
