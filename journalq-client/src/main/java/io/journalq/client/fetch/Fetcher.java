package io.journalq.client.fetch;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerMetrics;
import io.journalq.client.JournalQException;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.error.Errors;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.OffsetOutOfRangeException;
import io.journalq.client.network.ClientCore;
import io.journalq.client.network.ClusterView;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchReader;
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
import java.util.concurrent.locks.LockSupport;

/**
 * The application's side of a consumer: what is assigned, the positions, and the answers that wait to be consumed. It
 * tells the {@link FetchLoop} what to read and takes from it what was read; each batch is checked here, once.
 *
 * <p>Belongs to the consumer's thread, except {@link #metrics()} and the handing over of answers.
 */
public final class Fetcher implements AutoCloseable {
    private static final long UNKNOWN = -1L;

    private final ConsumerConfig config;
    private final FetchLoop loop;
    private final ClientCore core;
    private final OffsetLookup lookup;
    private final Map<TopicPartition, Position> positions = new LinkedHashMap<>();
    private final Queue<FetchAnswer> answers = new ConcurrentLinkedQueue<>();
    private final List<ByteBuf> lent = new ArrayList<>();
    private final BatchReader reader;
    private final LongAdder records = new LongAdder();
    private volatile Thread waiter;
    private int lastGeneration;
    private boolean anyUnknown;
    private JournalQException pendingFailure;

    /** Where the application is in one partition. */
    private static final class Position {
        private long offset = UNKNOWN;
        private int generation = -1;
    }

    public Fetcher(ConsumerConfig config) {
        this.config = config;
        this.loop = new FetchLoop(config, this::handOver);
        this.core = new ClientCore(config.client(), loop);
        loop.setCluster(core.cluster());
        this.lookup = new OffsetLookup(core.cluster(), core.calls());
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
        int generation = ++lastGeneration;
        offsets.forEach((partition, offset) -> {
            Position position = assigned(partition);
            position.offset = offset;
            position.generation = generation;
        });
        Map<TopicPartition, Long> started = Map.copyOf(offsets);
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

    /** Where the application is; looked up for a partition whose reading did not start. */
    public long position(TopicPartition partition) {
        Position position = assigned(partition);
        if (position.offset == UNKNOWN) {
            startUnknown();
        }
        return position.offset;
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

    /**
     * Waits for records. What the last call returned ends with this one.
     *
     * @param timeoutNanos longest wait
     */
    public List<FetchedPartition> poll(long timeoutNanos) {
        releaseLent();
        throwPending();
        if (anyUnknown) {
            startUnknown();
        }
        long endNanos = System.nanoTime() + timeoutNanos;
        while (true) {
            List<FetchedPartition> fetched = takeAll();
            if (!fetched.isEmpty()) {
                return fetched;
            }
            long leftNanos = endNanos - System.nanoTime();
            if (leftNanos <= 0) {
                return fetched;
            }
            park(leftNanos);
        }
    }

    /** Gives back the buffers of the last poll. */
    public void releaseLent() {
        lent.forEach(ByteBuf::release);
        lent.clear();
    }

    public ConsumerMetrics metrics() {
        return new ConsumerMetrics(
                loop.fetches.sum(), loop.fetchedBytes.sum(), records.sum(), loop.failedFetches.sum());
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
        Thread waiting = waiter;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    private void park(long nanos) {
        waiter = Thread.currentThread();
        try {
            if (answers.isEmpty()) {
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            waiter = null;
        }
        if (Thread.interrupted()) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted while waiting for records", null);
        }
    }

    private void startUnknown() {
        List<TopicPartition> unknown = new ArrayList<>();
        positions.forEach((partition, position) -> {
            if (position.offset == UNKNOWN) {
                unknown.add(partition);
            }
        });
        if (!unknown.isEmpty()) {
            startAsConfigured(unknown, "no position is set for " + unknown + "; seek first, or set startAt");
        }
        anyUnknown = false;
    }

    private void startAsConfigured(Collection<TopicPartition> partitions, String refusal) {
        switch (config.start()) {
            case BEGINNING -> seek(partitions, OffsetSpec.earliest());
            case END -> seek(partitions, OffsetSpec.latest());
            case NOWHERE -> throw new OffsetOutOfRangeException(refusal);
        }
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

    /** Checks the batches and counts the records from the position on. */
    private void walk(FetchAnswer.Part part, Position position, List<FetchedPartition> fetched) {
        int count = 0;
        long next = position.offset;
        ByteBuf batches = part.batches();
        int soundEnd = batches.readerIndex();
        reader.reset(batches);
        try {
            while (reader.nextBatch()) {
                if (!reader.isControlBatch()) {
                    count += reader.baseOffset() >= position.offset ? reader.recordCount() : countFrom(position.offset);
                }
                next = Math.max(next, reader.nextOffset());
                soundEnd = reader.nextIndex();
            }
        } catch (io.journalq.common.record.CorruptBatchException e) {
            if (count == 0) {
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
        if (count > 0) {
            ByteBuf sound = batches.slice(batches.readerIndex(), soundEnd - batches.readerIndex());
            fetched.add(new FetchedPartition(part.id(), sound, position.offset, next, count));
            records.add(count);
        }
        position.offset = next;
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
