package io.journalq.client.internal.fetch;

import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.OffsetOutOfRangeException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.internal.network.ClientCore;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.internal.network.Errors;
import io.journalq.client.internal.network.FailureLog;
import io.journalq.client.seal.BatchOpener;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/**
 * The part of a consumer that runs on its own thread: assigned partitions, positions, and responses to consume. It
 * tells the {@link FetchLoop} what to read and verifies each received batch once.
 *
 * <p>Belongs to the thread of the consumer, except for the counters and the arrival of responses.
 */
public final class Fetcher implements AutoCloseable {
    /**
     * The data of one partition in a Fetch response. It has been verified, so it consists of complete batches. Belongs
     * to the thread of the consumer.
     *
     * @param batches a slice of the response frame, or the batches that were opened; valid until the next poll
     * @param startOffset the requested position; a batch may contain records before it, which are skipped
     * @param nextOffset the position after the last batch
     * @param recordCount the number of records at or after {@code startOffset}
     */
    public record FetchedPartition(
            TopicPartition topicPartition, ByteBuf batches, long startOffset, long nextOffset, int recordCount) {}

    private static final long UNKNOWN = -1L;
    private static final int UNKNOWN_EPOCH = -1;

    private final ConsumerConfig config;
    private final FetchLoop loop;
    private final ClientCore core;
    private final OffsetLookup lookup;
    private final Map<TopicPartition, Position> positions = new LinkedHashMap<>();
    private final Queue<FetchResult> results = new ConcurrentLinkedQueue<>();
    private final List<ByteBuf> lent = new ArrayList<>();
    private final BatchReader reader;
    /** Null if batches are read as they are. */
    private final BatchOpener opener;

    private final LongAdder records = new LongAdder();
    private final Parking parking = new Parking();
    private final PendingFailure pendingFailure = new PendingFailure();
    private int lastGeneration;
    private boolean anyUnknown;

    /** The position of the application in one partition. */
    private static final class Position {
        private long offset = UNKNOWN;
        /** The leader epoch of the last batch before the offset. The leader detects by it that records were lost. */
        private int leaderEpoch = UNKNOWN_EPOCH;

        private final ReadEpochs epochs = new ReadEpochs();
        private int generation = -1;
        private boolean paused;
    }

    public Fetcher(ConsumerConfig config) {
        this.config = config;
        this.loop = new FetchLoop(config, this::handOver);
        this.core = new ClientCore(config.client(), loop);
        loop.setCluster(core.cluster());
        this.lookup = new OffsetLookup(core.cluster(), core.calls(), config.isolationLevel());
        this.opener = config.opener();
        this.reader = new BatchReader(
                ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, config.checkCrc());
    }

    public Set<TopicPartition> assignment() {
        return Set.copyOf(positions.keySet());
    }

    /** See {@link io.journalq.client.Consumer#assign}. */
    public void assign(Collection<TopicPartition> partitions) {
        Set<TopicPartition> wanted = new LinkedHashSet<>(partitions);
        List<TopicPartition> dropped = new ArrayList<>(positions.keySet());
        dropped.removeAll(wanted);
        for (TopicPartition partition : wanted) {
            positions.computeIfAbsent(partition, id -> new Position());
        }
        positions.keySet().removeAll(dropped);
        if (opener != null) {
            dropped.forEach(opener::stop);
        }
        anyUnknown = true;
        core.cluster().execute(() -> dropped.forEach(loop::stop));
    }

    /** See {@link io.journalq.client.Consumer#partitionsOf}. */
    public Set<TopicPartition> partitionsOf(String topic) {
        ClusterView.Topic known =
                core.cluster().metadata().refreshTopic(topic, config.client().callTimeoutMs());
        Set<TopicPartition> partitions = new LinkedHashSet<>();
        for (int i = 0; i < known.partitionCount(); i++) {
            partitions.add(new TopicPartition(topic, i));
        }
        return partitions;
    }

    /** Sets positions that the application has chosen. */
    public void seek(Map<TopicPartition, Long> offsets) {
        moveTo(offsets);
        if (opener != null) {
            offsets.forEach((partition, offset) -> opener.start(partition, offset, ""));
        }
    }

    /** Sets positions to committed offsets. */
    public void seekToCommitted(Map<TopicPartition, CommittedOffset> committed) {
        committed.forEach((partition, offset) -> place(partition, offset.offset(), offset.leaderEpoch()));
        startReading(committed.keySet());
        if (opener != null) {
            committed.forEach((partition, offset) -> opener.start(partition, offset.offset(), offset.metadata()));
        }
    }

    /** Sets positions without a choice of the application, so that no batch may come again. */
    private void moveTo(Map<TopicPartition, Long> offsets) {
        offsets.forEach((partition, offset) -> place(partition, offset, UNKNOWN_EPOCH));
        startReading(offsets.keySet());
    }

    /** Sets a position whose leader epoch is known, without a choice of the application. */
    private void moveTo(TopicPartition partition, long offset, int leaderEpoch) {
        Position position = assigned(partition);
        position.offset = offset;
        position.leaderEpoch = leaderEpoch;
        position.epochs.truncateTo(offset);
        startReading(List.of(partition));
    }

    private void place(TopicPartition partition, long offset, int leaderEpoch) {
        Position position = assigned(partition);
        position.offset = offset;
        position.leaderEpoch = leaderEpoch;
        position.epochs.clear();
    }

    /** Fetches a partition again from its position on. */
    private void readAgain(TopicPartition partition) {
        startReading(List.of(partition));
    }

    /** Suspends reading from these partitions. They keep their positions. */
    public void pause(Collection<TopicPartition> partitions) {
        partitions.forEach(this::assigned);
        int generation = ++lastGeneration;
        for (TopicPartition partition : partitions) {
            Position position = assigned(partition);
            position.paused = true;
            position.generation = generation;
        }
        List<TopicPartition> stopped = List.copyOf(partitions);
        core.cluster().execute(() -> stopped.forEach(loop::stop));
    }

    /** Resumes reading from paused partitions. */
    public void resume(Collection<TopicPartition> partitions) {
        // Before any change: a partition that is not marked as paused any more must be read again.
        partitions.forEach(this::assigned);
        List<TopicPartition> resumed = new ArrayList<>();
        for (TopicPartition partition : partitions) {
            Position position = assigned(partition);
            if (position.paused) {
                position.paused = false;
                if (position.offset != UNKNOWN) {
                    resumed.add(partition);
                }
            }
        }
        startReading(resumed);
    }

    /** The paused partitions. */
    public Set<TopicPartition> paused() {
        Set<TopicPartition> paused = new LinkedHashSet<>();
        positions.forEach((partition, position) -> {
            if (position.paused) {
                paused.add(partition);
            }
        });
        return paused;
    }

    /** Returns the next offset of each partition that has a position. */
    public Map<TopicPartition, CommittedOffset> consumed() {
        Map<TopicPartition, CommittedOffset> consumed = new LinkedHashMap<>();
        positions.forEach((partition, position) -> {
            if (position.offset != UNKNOWN) {
                consumed.put(partition, new CommittedOffset(position.offset, position.leaderEpoch, stateOf(partition)));
            }
        });
        return consumed;
    }

    private String stateOf(TopicPartition partition) {
        return opener == null ? "" : opener.state(partition);
    }

    /** See {@link BatchOpener#missingBatches}. Any thread. */
    public long missingBatches() {
        return opener == null ? 0 : opener.missingBatches();
    }

    /** Removes all positions. Each partition starts again like a newly assigned one. */
    public void forgetPositions() {
        int generation = ++lastGeneration;
        positions.values().forEach(position -> {
            position.offset = UNKNOWN;
            position.leaderEpoch = UNKNOWN_EPOCH;
            position.epochs.clear();
            position.generation = generation;
        });
        anyUnknown = !positions.isEmpty();
        List<TopicPartition> stopped = List.copyOf(positions.keySet());
        core.cluster().execute(() -> stopped.forEach(loop::stop));
    }

    /** Returns the partitions that have no position. */
    public List<TopicPartition> withoutPosition() {
        if (!anyUnknown) {
            return List.of();
        }
        List<TopicPartition> unknown = new ArrayList<>();
        positions.forEach((partition, position) -> {
            if (position.offset == UNKNOWN) {
                unknown.add(partition);
            }
        });
        anyUnknown = !unknown.isEmpty();
        return unknown;
    }

    private void startReading(Collection<TopicPartition> partitions) {
        int generation = ++lastGeneration;
        record Start(TopicPartition partition, long offset, int leaderEpoch) {}
        List<Start> started = new ArrayList<>();
        for (TopicPartition partition : partitions) {
            Position position = positions.get(partition);
            position.generation = generation;
            if (!position.paused) {
                started.add(new Start(partition, position.offset, position.leaderEpoch));
            }
        }
        core.cluster().execute(() -> {
            started.forEach(start -> loop.start(start.partition, start.offset, start.leaderEpoch, generation));
            loop.fetchAll();
        });
    }

    /** Sets positions, see {@link OffsetLookup#positions}. */
    public void seek(Collection<TopicPartition> partitions, OffsetSpec spec) {
        partitions.forEach(this::assigned);
        seek(lookup.positions(partitions, spec));
    }

    /** Returns the position of a partition, or a negative number if it has none. */
    public long position(TopicPartition partition) {
        return assigned(partition).offset;
    }

    /** Begins a poll and invalidates the records of the previous one. Throws a pending error. */
    public void beginPoll() {
        releaseLent();
        pendingFailure.throwIfSet();
    }

    /** Returns the available data, or an empty list. */
    public List<FetchedPartition> take() {
        return results.isEmpty() ? List.of() : takeAll();
    }

    /** Whether data is available. */
    public boolean hasResults() {
        return !results.isEmpty();
    }

    /** Where the thread of the consumer waits. */
    public Parking parking() {
        return parking;
    }

    /** Looks up offsets as this consumer sees them. */
    public OffsetLookup lookup() {
        return lookup;
    }

    /** The connections and their event loop. */
    public ClientCore core() {
        return core;
    }

    /** Releases the buffers of the previous poll. */
    public void releaseLent() {
        lent.forEach(ByteBuf::release);
        lent.clear();
    }

    /** Fetch responses received. Any thread. */
    public long fetches() {
        return loop.fetches.sum();
    }

    /** Bytes of batches in the responses, compressed. Any thread. */
    public long fetchedBytes() {
        return loop.fetchedBytes.sum();
    }

    /** Records that polls returned. Any thread. */
    public long records() {
        return records.sum();
    }

    @Override
    public void close() {
        core.close();
        releaseLent();
        for (FetchResult result = results.poll(); result != null; result = results.poll()) {
            result.frame().release();
        }
        reader.close();
        if (opener != null) {
            opener.close();
        }
    }

    private Position assigned(TopicPartition partition) {
        Position position = positions.get(partition);
        if (position == null) {
            throw new IllegalStateException(partition + " is not assigned; call assign with it first");
        }
        return position;
    }

    /** Called on the event loop. */
    private void handOver(FetchResult result) {
        results.add(result);
        parking.signal();
    }

    /** Sets the positions of partitions that have none, according to the configuration. */
    public void startAsConfigured(Collection<TopicPartition> partitions) {
        seek(partitions, configuredStart("there is no position for " + partitions + "; seek first, or set startAt"));
    }

    private OffsetSpec configuredStart(String refusal) {
        OffsetSpec spec = config.start().apply(System.currentTimeMillis());
        if (spec == null) {
            throw new OffsetOutOfRangeException(refusal);
        }
        return spec;
    }

    private List<FetchedPartition> takeAll() {
        List<FetchedPartition> fetched = new ArrayList<>();
        // Not those that arrive meanwhile: if they arrive faster than they are opened, the poll would never end.
        for (int left = results.size(); left > 0 && !pendingFailure.isSet(); left--) {
            FetchResult result = results.remove();
            int before = fetched.size();
            int taken = 0;
            try {
                while (taken < result.parts().size()) {
                    take(result.parts().get(taken), fetched);
                    taken++;
                }
            } catch (RuntimeException | Error e) {
                pendingFailure.set(e);
            } finally {
                // After a failure, perhaps of the application's code, which the opener calls. The positions of the
                // partitions before have moved, so the application receives their records first.
                readAgain(result.parts().subList(taken, result.parts().size()));
                if (opener == null && fetched.size() > before) {
                    lent.add(result.frame());
                } else {
                    result.frame().release();
                }
                loop.consumed(result.session());
            }
        }
        if (fetched.isEmpty()) {
            pendingFailure.throwIfSet();
        }
        return fetched;
    }

    /** Fetches partitions of a response again that were not taken: none, unless the first of them has failed. */
    private void readAgain(List<FetchResult.Part> parts) {
        for (FetchResult.Part part : parts) {
            Position position = positions.get(part.id());
            if (position != null && position.generation == part.generation()) {
                readAgain(part.id());
            }
        }
    }

    private void take(FetchResult.Part part, List<FetchedPartition> fetched) {
        Position position = positions.get(part.id());
        if (position == null || position.generation != part.generation()) {
            return;
        }
        if (part.error() != ErrorCode.NONE) {
            try {
                recover(part);
            } catch (JournalQException e) {
                // A later poll tries again: the error may be over by then, and otherwise it is thrown again.
                readAgain(part.id());
                throw e;
            }
            truncateOpened(part.id(), position.offset);
        } else if (part.diverging() != null) {
            moveBack(part.id(), position, part.diverging());
        } else {
            walk(part, position, fetched);
        }
    }

    /** Moves a position that does not exist to where the configuration says. Throws any other error of a partition. */
    private void recover(FetchResult.Part part) {
        if (part.error() != ErrorCode.OFFSET_OUT_OF_RANGE) {
            throw Errors.of(part.error(), "fetch from " + part.id() + " at offset " + part.offset(), null);
        }
        OffsetSpec spec = configuredStart("offset " + part.offset() + " of " + part.id()
                + " does not exist; seek to one between beginningOffsets and endOffsets, or set startAt");
        moveTo(lookup.positions(List.of(part.id()), spec));
    }

    /**
     * Moves a position back, because the partition has lost records before it, and others may have replaced them. Up to
     * the end in the response, the log has no batches of later epochs than the one there. Where this consumer has read
     * some, the log has others.
     */
    private void moveBack(TopicPartition partition, Position position, FetchResponse.EpochEndOffset diverging) {
        long before = position.offset;
        long end = Math.min(before, diverging.endOffset());
        long offset = Math.min(end, position.epochs.startAfter(diverging.epoch(), end));
        moveTo(partition, offset, position.epochs.before(offset, diverging.epoch()));
        truncateOpened(partition, position.offset);
        core.cluster()
                .failureLog()
                .report(
                        FailureLog.Cause.FAILED_FETCH,
                        partition.toString(),
                        new OffsetOutOfRangeException(
                                "the partition has lost records that were read; the position moves"
                                        + " back from offset " + before + " to " + position.offset));
    }

    /** The position was moved, so that the offsets from it on can have other batches than those that were opened there. */
    private void truncateOpened(TopicPartition partition, long offset) {
        if (opener != null) {
            opener.truncate(partition, offset);
        }
    }

    /**
     * Verifies the batches, opens them if they are sealed, counts the records from the position on, and removes the
     * batches of aborted transactions.
     */
    private void walk(FetchResult.Part part, Position position, List<FetchedPartition> fetched) {
        ByteBuf batches = part.batches();
        AbortedRecords aborted = part.aborted().isEmpty() ? null : new AbortedRecords(part.aborted());
        ByteBuf opened = opener == null ? null : ByteBufAllocator.DEFAULT.heapBuffer(batches.readableBytes());
        Run run = new Run(part.id(), position.offset, opened == null ? batches : opened, fetched);
        long next = position.offset;
        int epoch = position.leaderEpoch;
        reader.reset(batches);
        try {
            while (reader.nextBatch()) {
                boolean visible = aborted == null || !aborted.contains(reader);
                if (!visible) {
                    run.end(next);
                    run.start = opened == null ? reader.nextIndex() : opened.writerIndex();
                } else if (opened != null && reader.nextOffset() <= next) {
                    // The opener would count it as received, but the application does not receive it.
                    continue;
                } else if (!reader.isControlBatch()) {
                    int at = opened == null ? 0 : opened.writerIndex();
                    if (opened != null) {
                        opener.open(part.id(), batches, reader.batchIndex(), opened);
                    }
                    run.count += RecordCount.of(reader, opened, at, position.offset);
                }
                if (reader.nextOffset() > next) {
                    // Otherwise, it comes again, and the epoch of the position is that of a later batch.
                    epoch = RecordBatch.leaderEpoch(batches, reader.batchIndex());
                    position.epochs.add(epoch, next);
                    next = reader.nextOffset();
                }
                run.soundEnd = opened == null ? reader.nextIndex() : opened.writerIndex();
            }
        } catch (InvalidBatchException e) {
            // The application receives the valid batches. The next fetch starts at the corrupt one.
            moveTo(part.id(), next, epoch);
            if (run.isFruitless()) {
                throw new CorruptBatchException(
                        "a batch of " + part.id() + " at or after offset " + next + " is corrupt (" + e.getMessage()
                                + "); poll again in case of a network error, otherwise check the disk of the broker"
                                + " and seek past the batch",
                        e);
            }
        } catch (RuntimeException | Error e) {
            // The opener refuses a batch, or fails. It has opened those before it, which must not come again.
            moveTo(part.id(), next, epoch);
            if (run.isFruitless()) {
                throw e;
            }
        } finally {
            reader.close();
            if (opened != null) {
                lent.add(opened);
            }
        }
        run.end(next);
        records.add(run.total);
        position.offset = next;
        position.leaderEpoch = epoch;
    }

    /** A sequence of adjacent batches that the application receives. For one pass. */
    private static final class Run {
        private final TopicPartition id;
        private final long startOffset;
        private final ByteBuf batches;
        private final List<FetchedPartition> fetched;
        private int start;
        private int soundEnd;
        private int count;
        private int total;

        private Run(TopicPartition id, long startOffset, ByteBuf batches, List<FetchedPartition> fetched) {
            this.id = id;
            this.startOffset = startOffset;
            this.batches = batches;
            this.fetched = fetched;
            this.start = batches.readerIndex();
            this.soundEnd = start;
        }

        private boolean isFruitless() {
            return total + count == 0;
        }

        private void end(long nextOffset) {
            if (count > 0) {
                ByteBuf sound = batches.slice(start, soundEnd - start);
                fetched.add(new FetchedPartition(id, sound, startOffset, nextOffset, count));
                total += count;
                count = 0;
            }
        }
    }
}
