package io.journalq.client.fetch;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerMetrics;
import io.journalq.client.JournalQException;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.error.Errors;
import io.journalq.client.error.OffsetOutOfRangeException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.network.ClientCore;
import io.journalq.client.network.ClusterView;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchReader;
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
 * The application's side of a consumer: what is assigned, the positions, and the answers that wait to be consumed. It
 * tells the {@link FetchLoop} what to read and takes from it what was read; each batch is checked here, once.
 *
 * <p>Belongs to the consumer's thread, except {@link #metrics} and the handing over of answers.
 */
public final class Fetcher implements AutoCloseable {
    private static final long UNKNOWN = -1L;
    private static final int UNKNOWN_EPOCH = -1;

    private final ConsumerConfig config;
    private final FetchLoop loop;
    private final ClientCore core;
    private final OffsetLookup lookup;
    private final Map<TopicPartition, Position> positions = new LinkedHashMap<>();
    private final Queue<FetchAnswer> answers = new ConcurrentLinkedQueue<>();
    private final List<ByteBuf> lent = new ArrayList<>();
    private final BatchReader reader;
    private final LongAdder records = new LongAdder();
    private final Parking parking = new Parking();
    private int lastGeneration;
    private boolean anyUnknown;
    private JournalQException pendingFailure;

    /** Where the application is in one partition. */
    private static final class Position {
        private long offset = UNKNOWN;
        private int leaderEpoch = UNKNOWN_EPOCH;
        private int generation = -1;
        private boolean paused;
    }

    public Fetcher(ConsumerConfig config) {
        this.config = config;
        this.loop = new FetchLoop(config, this::handOver);
        this.core = new ClientCore(config.client(), loop);
        loop.setCluster(core.cluster());
        this.lookup = new OffsetLookup(core.cluster(), core.calls(), config.isolationLevel());
        this.reader = new BatchReader(
                ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, config.checkCrc());
    }

    public Set<TopicPartition> assignment() {
        return Set.copyOf(positions.keySet());
    }

    /** See {@link Consumer#assign}. */
    public void assign(Collection<TopicPartition> partitions) {
        Set<TopicPartition> wanted = new LinkedHashSet<>(partitions);
        List<TopicPartition> dropped = new ArrayList<>(positions.keySet());
        dropped.removeAll(wanted);
        for (TopicPartition partition : wanted) {
            positions.computeIfAbsent(partition, id -> new Position());
        }
        positions.keySet().removeAll(dropped);
        anyUnknown = true;
        core.cluster().eventLoop().execute(() -> dropped.forEach(loop::stop));
    }

    /** See {@link Consumer#partitionsOf}. */
    public Set<TopicPartition> partitionsOf(String topic) {
        ClusterView.Topic known =
                core.cluster().metadata().awaitTopic(topic, config.client().callTimeoutMs());
        Set<TopicPartition> partitions = new LinkedHashSet<>();
        for (int i = 0; i < known.partitionCount(); i++) {
            partitions.add(new TopicPartition(topic, i));
        }
        return partitions;
    }

    /** Reads partitions from these offsets on. */
    public void seek(Map<TopicPartition, Long> offsets) {
        offsets.forEach((partition, offset) -> {
            Position position = assigned(partition);
            position.offset = offset;
            position.leaderEpoch = UNKNOWN_EPOCH;
        });
        startReading(offsets.keySet());
    }

    /** Reads no more of these partitions, and keeps their positions. */
    public void pause(Collection<TopicPartition> partitions) {
        int generation = ++lastGeneration;
        for (TopicPartition partition : partitions) {
            Position position = assigned(partition);
            position.paused = true;
            position.generation = generation;
        }
        List<TopicPartition> stopped = List.copyOf(partitions);
        core.cluster().eventLoop().execute(() -> stopped.forEach(loop::stop));
    }

    /** Goes on with paused partitions. */
    public void resume(Collection<TopicPartition> partitions) {
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

    /** The partitions that are paused. */
    public Set<TopicPartition> paused() {
        Set<TopicPartition> paused = new LinkedHashSet<>();
        positions.forEach((partition, position) -> {
            if (position.paused) {
                paused.add(partition);
            }
        });
        return paused;
    }

    /** Where the application goes on in each partition that has a position. */
    public Map<TopicPartition, CommittedOffset> consumed() {
        Map<TopicPartition, CommittedOffset> consumed = new LinkedHashMap<>();
        positions.forEach((partition, position) -> {
            if (position.offset != UNKNOWN) {
                consumed.put(partition, new CommittedOffset(position.offset, position.leaderEpoch, ""));
            }
        });
        return consumed;
    }

    /** Forgets where the application is: every partition starts again as one that nobody sought. */
    public void forgetPositions() {
        int generation = ++lastGeneration;
        positions.values().forEach(position -> {
            position.offset = UNKNOWN;
            position.leaderEpoch = UNKNOWN_EPOCH;
            position.generation = generation;
        });
        anyUnknown = !positions.isEmpty();
        List<TopicPartition> stopped = List.copyOf(positions.keySet());
        core.cluster().eventLoop().execute(() -> stopped.forEach(loop::stop));
    }

    /** The partitions that have no position yet. */
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
        Map<TopicPartition, Long> started = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            Position position = positions.get(partition);
            position.generation = generation;
            if (!position.paused) {
                started.put(partition, position.offset);
            }
        }
        core.cluster().eventLoop().execute(() -> {
            started.forEach((partition, offset) -> loop.start(partition, offset, generation));
            loop.fetchAll();
        });
    }

    /** Reads partitions from what is found for a special timestamp or a time; from the end where nothing is. */
    public void seek(Collection<TopicPartition> partitions, OffsetSpec spec) {
        partitions.forEach(this::assigned);
        Map<TopicPartition, Long> found = new LinkedHashMap<>();
        List<TopicPartition> missing = new ArrayList<>();
        offsets(partitions, spec).forEach((partition, offset) -> {
            if (offset.found()) {
                found.put(partition, offset.offset());
            } else {
                missing.add(partition);
            }
        });
        if (!missing.isEmpty()) {
            offsets(missing, OffsetSpec.latest()).forEach((partition, offset) -> found.put(partition, offset.offset()));
        }
        seek(found);
    }

    /** Where the application is; negative for a partition without position. */
    public long position(TopicPartition partition) {
        return assigned(partition).offset;
    }

    /** One offset of each partition. */
    public Map<TopicPartition, ListedOffset> offsets(Collection<TopicPartition> partitions, OffsetSpec spec) {
        Map<TopicPartition, Long> timestampsMs = new LinkedHashMap<>();
        partitions.forEach(partition -> timestampsMs.put(partition, spec.timestampMs()));
        return offsets(timestampsMs);
    }

    /** An offset of each partition by its own timestamp. */
    public Map<TopicPartition, ListedOffset> offsets(Map<TopicPartition, Long> timestampsMs) {
        return timestampsMs.isEmpty() ? Map.of() : lookup.offsets(timestampsMs);
    }

    /** Begins a poll: what the last one returned ends. Throws what is wrong with what came after it. */
    public void beginPoll() {
        releaseLent();
        throwPending();
    }

    /** What is there now; nothing when nothing is. */
    public List<FetchedPartition> take() {
        return answers.isEmpty() ? List.of() : takeAll();
    }

    /** Whether there is something to take. */
    public boolean hasAnswers() {
        return !answers.isEmpty();
    }

    /** Where the consumer's thread waits. */
    public Parking parking() {
        return parking;
    }

    /** The connections and their loop. */
    public ClientCore core() {
        return core;
    }

    /** Gives back the buffers of the last poll. */
    public void releaseLent() {
        lent.forEach(ByteBuf::release);
        lent.clear();
    }

    public ConsumerMetrics metrics(long failedCommits) {
        return new ConsumerMetrics(
                loop.fetches.sum(), loop.fetchedBytes.sum(), records.sum(), loop.failedFetches.sum(), failedCommits);
    }

    @Override
    public void close() {
        core.close();
        releaseLent();
        for (FetchAnswer answer = answers.poll(); answer != null; answer = answers.poll()) {
            answer.frame().release();
        }
        reader.close();
    }

    private Position assigned(TopicPartition partition) {
        Position position = positions.get(partition);
        if (position == null) {
            throw new IllegalStateException(partition + " is not assigned; call assign with it first");
        }
        return position;
    }

    /** On the event loop. */
    private void handOver(FetchAnswer answer) {
        answers.add(answer);
        parking.signal();
    }

    /** Gives partitions the position that is configured for those that nobody sought. */
    public void startAsConfigured(Collection<TopicPartition> partitions) {
        startAsConfigured(partitions, "no position is set for " + partitions + "; seek first, or set startAt");
    }

    private void startAsConfigured(Collection<TopicPartition> partitions, String refusal) {
        OffsetSpec spec = config.start().at(System.currentTimeMillis());
        if (spec == null) {
            throw new OffsetOutOfRangeException(refusal);
        }
        seek(partitions, spec);
    }

    private List<FetchedPartition> takeAll() {
        List<FetchedPartition> fetched = new ArrayList<>();
        while (pendingFailure == null && !answers.isEmpty()) {
            FetchAnswer answer = answers.remove();
            int before = fetched.size();
            try {
                for (FetchAnswer.Part part : answer.parts()) {
                    take(part, fetched);
                }
            } catch (JournalQException e) {
                pendingFailure = e;
            } finally {
                if (fetched.size() > before) {
                    lent.add(answer.frame());
                } else {
                    answer.frame().release();
                }
                loop.consumed(answer.session());
            }
        }
        if (fetched.isEmpty()) {
            throwPending();
        }
        return fetched;
    }

    /** An error waits until the application has what was read before it. */
    private void throwPending() {
        JournalQException failure = pendingFailure;
        if (failure != null) {
            pendingFailure = null;
            throw failure;
        }
    }

    private void take(FetchAnswer.Part part, List<FetchedPartition> fetched) {
        Position position = positions.get(part.id());
        if (position == null || position.generation != part.generation()) {
            return;
        }
        if (part.error() == ErrorCode.OFFSET_OUT_OF_RANGE) {
            startAsConfigured(
                    List.of(part.id()),
                    "offset " + part.offset() + " of " + part.id()
                            + " does not exist; seek to one between beginningOffsets and endOffsets, or set startAt");
        } else if (part.error() != ErrorCode.NONE) {
            throw Errors.of(part.error(), "read of " + part.id() + " at offset " + part.offset(), null);
        } else {
            walk(part, position, fetched);
        }
    }

    /** Checks the batches and counts the records from the position on; batches of aborted transactions are cut out. */
    private void walk(FetchAnswer.Part part, Position position, List<FetchedPartition> fetched) {
        ByteBuf batches = part.batches();
        AbortedRecords aborted = part.aborted().isEmpty() ? null : new AbortedRecords(part.aborted());
        Run run = new Run(part.id(), position.offset, batches, fetched);
        long next = position.offset;
        int epoch = position.leaderEpoch;
        reader.reset(batches);
        try {
            while (reader.nextBatch()) {
                boolean visible = aborted == null || !aborted.contains(reader);
                if (!visible) {
                    run.end(next);
                    run.start = reader.nextIndex();
                } else if (!reader.isControlBatch()) {
                    run.count +=
                            reader.baseOffset() >= position.offset ? reader.recordCount() : countFrom(position.offset);
                }
                next = Math.max(next, reader.nextOffset());
                epoch = RecordBatch.leaderEpoch(batches, reader.batchIndex());
                run.soundEnd = reader.nextIndex();
            }
        } catch (io.journalq.common.record.CorruptBatchException e) {
            if (run.isFruitless()) {
                seek(Map.of(part.id(), position.offset));
                throw new CorruptBatchException(
                        "a batch of " + part.id() + " at or after offset " + next + " is corrupt (" + e.getMessage()
                                + "); poll again in case it was the network, else seek past it and check the disk",
                        e);
            }
            // The application gets what is sound; the next fetch starts at what is not.
            seek(Map.of(part.id(), next));
        } finally {
            reader.close();
        }
        run.end(next);
        records.add(run.total);
        position.offset = next;
        position.leaderEpoch = epoch;
    }

    /** Batches one after the other that the application gets. For one walk. */
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

    private int countFrom(long offset) {
        int count = 0;
        while (reader.next()) {
            if (reader.offset() >= offset) {
                count++;
            }
        }
        return count;
    }
}
