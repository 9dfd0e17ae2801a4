package io.journalq.server.api.data;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.Loop;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.read.PartitionRead;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One Fetch request from its arrival to its response. It reads the session's ready partitions in passes. Partitions of
 * the connection's own loop are read at once, those of other loops by one hand-over each. If a pass finds too little,
 * the request is parked until its partitions have news or its wait time has passed.
 *
 * <p>A parked request holds no records. It releases the slices that it found, and remembers only their size. The next
 * pass reads these partitions again, those that the limits of the request left out, and those that have news, but no
 * others. Reading a partition again costs a lookup in memory, because a slice is only a position in a segment, and it
 * happens only if the minimum size of the request is above 1 byte. Keeping the slices would have two disadvantages:
 *
 * <ul>
 *   <li>Each slice holds a segment. A deleted segment would keep its disk space and its open file for the wait time,
 *       which the client chooses. A request can name thousands of partitions, and no limit covers what they would hold.
 *   <li>A slice ends where the log ended when it was found. The response would lack the records that arrived since, or
 *       would need a second slice for each partition.
 * </ul>
 *
 * <p>On the connection's loop.
 */
final class PendingFetch implements FetchSession.PendingRequest {
    private final RequestContext context;
    private final FetchSession session;
    private final FetchResponder responder;
    private final int minSizeBytes;
    private final int maxSizeBytes;
    private final boolean mayPark;
    private final Locator locator;
    private final Runnable pass = this::startPass;
    private List<FetchPart> parts = List.of();
    private Loop.Timer timeout;
    private int outstandingShards;
    private boolean passRegistered;
    private boolean missedNews;
    private boolean timedOut;
    /** A replica is sent new offsets even if there are no records for it. */
    private boolean offsetsDue;

    private boolean done;

    /** Finds the shard of a partition. */
    @FunctionalInterface
    interface Locator {
        /** Sets the shard of {@code part}, according to the current image. */
        void locate(FetchPart part);
    }

    /**
     * The limits in a request.
     *
     * @param minSizeBytes size of the records to wait for
     * @param maxSizeBytes size of the records at which to stop
     * @param maxWaitMs maximum wait time
     */
    record Limits(int minSizeBytes, int maxSizeBytes, int maxWaitMs) {}

    PendingFetch(
            RequestContext context, FetchSession session, FetchResponder responder, Limits limits, Locator locator) {
        this.context = context;
        this.session = session;
        this.responder = responder;
        this.minSizeBytes = Math.max(1, limits.minSizeBytes());
        this.maxSizeBytes = limits.maxSizeBytes();
        this.mayPark = limits.maxWaitMs() > 0 && limits.minSizeBytes() > 0;
        this.locator = locator;
    }

    void start(int maxWaitMs) {
        session.setPending(this);
        if (mayPark) {
            timeout = session.cycle().loop().schedule(this::onTimeout, maxWaitMs);
        }
        startPass();
    }

    @Override
    public void onNews(FetchPart part, long grownBytes) {
        if (done) {
            return;
        }
        offsetsDue |= grownBytes <= 0 && session.replicaId() >= 0;
        if (passRegistered) {
            return;
        }
        if (grownBytes > 0 && session.readyBytes() < minSizeBytes && part.isReadable()) {
            // Also during a pass, which may not read this partition.
            part.shard().cycle().execute(part::parkOnShard);
        } else if (isInPass()) {
            missedNews |= grownBytes <= 0;
        } else {
            registerPass();
        }
    }

    @Override
    public void onTimeout() {
        timedOut = true;
        if (!done && !isInPass() && !passRegistered) {
            startPass();
        }
    }

    @Override
    public void abandon() {
        timedOut = true;
        if (!done && !isInPass()) {
            evaluate();
        }
    }

    private void registerPass() {
        passRegistered = true;
        session.cycle().onWakeUp(pass);
    }

    private boolean isInPass() {
        return outstandingShards > 0;
    }

    private void startPass() {
        passRegistered = false;
        if (done) {
            return;
        }
        missedNews = false;
        parts = session.takeReady();
        List<FetchPart> onOtherLoops = List.of();
        int budgetBytes = maxSizeBytes;
        boolean nothingYet = true;
        for (FetchPart part : parts) {
            locator.locate(part);
            if (!part.isReadable()) {
                part.failMissing();
            } else if (part.shard().cycle() == session.cycle()) {
                int foundBytes = part.read(budgetBytes, nothingYet, minSizeBytes);
                nothingYet &= foundBytes == 0;
                budgetBytes = Math.max(0, budgetBytes - foundBytes);
            } else {
                if (onOtherLoops.isEmpty()) {
                    onOtherLoops = new ArrayList<>();
                }
                onOtherLoops.add(part);
            }
        }
        if (onOtherLoops.isEmpty()) {
            evaluate();
        } else {
            readOnOtherLoops(onOtherLoops, budgetBytes);
        }
    }

    private void readOnOtherLoops(List<FetchPart> onOtherLoops, int budgetBytes) {
        Map<Shard, List<FetchPart>> partsByShard = FetchSession.byShard(onOtherLoops);
        outstandingShards = partsByShard.size();
        partsByShard.forEach((shard, onShard) -> session.cycle().handOver(shard.cycle(), () -> {
            int rest = budgetBytes;
            boolean nothingYet = true;
            for (FetchPart part : onShard) {
                int foundBytes = part.read(rest, nothingYet, minSizeBytes);
                nothingYet &= foundBytes == 0;
                rest = Math.max(0, rest - foundBytes);
            }
            shard.cycle().handBack(session.cycle(), this::onShardRead);
        }));
    }

    private void onShardRead() {
        outstandingShards--;
        if (outstandingShards == 0) {
            evaluate();
        }
    }

    /** All reads of a pass are done. */
    private void evaluate() {
        if (session.isClosed()) {
            finish();
            parts.forEach(FetchPart::dropFound);
            // A read that was not handed over yet when the session was closed has parked its partition since then.
            FetchSession.unpark(parts);
            context.respond(new FetchResponse().setErrorCode(ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code()));
            return;
        }
        long foundBytes = trimToBudget();
        if (foundBytes >= minSizeBytes
                || !mayPark
                || timedOut
                || session.partCount() == 0
                || hasErrors()
                || (offsetsDue && hasNewOffsets())) {
            finish();
            responder.send(context, session, parts);
        } else {
            park();
        }
    }

    /** Each shard had the whole budget. Records beyond it are left for the next fetch. */
    private long trimToBudget() {
        long foundBytes = 0;
        for (FetchPart part : parts) {
            int sizeBytes = part.found() == null ? 0 : part.found().sizeBytes();
            if (sizeBytes == 0) {
                continue;
            }
            if (foundBytes > 0 && foundBytes + sizeBytes > maxSizeBytes) {
                PartitionRead read = part.takeFound();
                read.slice().release();
                part.setFound(read.withoutSlice());
                session.markReady(part);
            } else {
                foundBytes += sizeBytes;
            }
        }
        return foundBytes;
    }

    private boolean hasNewOffsets() {
        for (FetchPart part : parts) {
            if (part.hasFoundNewOffsets()) {
                return true;
            }
        }
        return false;
    }

    private boolean hasErrors() {
        for (FetchPart part : parts) {
            PartitionRead found = part.found();
            if (found != null
                    && (found.error() != ErrorCode.NONE || found.divergingEpoch() != null || part.isRedirected())) {
                return true;
            }
        }
        return false;
    }

    /** Releases the records that were found. The next pass reads them again, see the class. */
    private void park() {
        for (FetchPart part : parts) {
            PartitionRead found = part.found();
            part.remember(found);
            if (found.slice() != null) {
                session.markReady(part);
                session.addReadyBytes(found.sizeBytes());
            } else if (part.hasUnread()) {
                session.markReady(part);
            }
            part.dropFound();
        }
        parts = List.of();
        if (missedNews || session.readyBytes() >= minSizeBytes) {
            registerPass();
        }
    }

    private void finish() {
        done = true;
        if (timeout != null) {
            timeout.cancel();
        }
    }
}
