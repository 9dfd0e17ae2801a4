package io.journalq.client.internal.produce;

import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RecordTooLargeException;
import io.journalq.client.internal.check.Arguments;
import io.journalq.client.internal.network.ClientLoop;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The part of a producer that runs on the threads of the application. They append records to the open batches of lanes,
 * or add complete batches, and wait for the result if needed. Thread-safe. A thread holds the lock of at most one lane,
 * and never while it blocks.
 */
public final class Sender implements AutoCloseable {
    /** The counters of a producer, as {@link io.journalq.client.ProducerMetrics} documents them. Thread-safe. */
    public static final class Counters {
        public final LongAdder records = new LongAdder();
        public final LongAdder batches = new LongAdder();
        public final LongAdder requests = new LongAdder();
        public final LongAdder sentBytes = new LongAdder();
        public final LongAdder failedRecords = new LongAdder();
        public final LongAdder retriedBatches = new LongAdder();
        public final LongAdder directSends = new LongAdder();
    }

    /** After this number of consecutive sends that find nothing in flight, a sender is considered the only one. */
    private static final int LONE_SENDS_BEFORE_DIRECT = 8;

    private static final long FLUSH_POLL_NANOS = 100_000;

    private final ProducerConfig config;
    private final Map<String, TopicLanes> topics = new ConcurrentHashMap<>();
    private final Counters counters = new Counters();
    private final BufferMemory memory;
    private final ClientLoop clientLoop;
    private final ProduceLoop loop;
    private final DirectSender direct;
    private final long deliveryTimeoutNanos;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Updated without synchronization, so it can be slightly wrong. */
    private int loneSends;

    /**
     * Creates a sender and starts its event loop.
     *
     * @param gate decides when batches may be sent
     */
    public Sender(ProducerConfig config, Gate gate) {
        this.config = config;
        this.memory =
                new BufferMemory(config.bufferMemoryBytes(), config.client().callTimeoutMs());
        this.deliveryTimeoutNanos = TimeUnit.MILLISECONDS.toNanos(config.deliveryTimeoutMs());
        // A login costs time, and fails on the event loop first, where the application learns why.
        this.loneSends = config.client().sasl() == null ? LONE_SENDS_BEFORE_DIRECT : 0;
        this.clientLoop = ClientLoop.acquire();
        boolean started = false;
        try {
            this.loop = new ProduceLoop(config, topics.values(), counters, clientLoop.eventLoop(), memory, gate);
            this.direct = loop.expectsResponses() && !config.transactional()
                    ? new DirectSender(loop, config, counters, memory)
                    : null;
            loop.setDirect(direct);
            loop.cluster().metadata().allowAutoCreation();
            loop.cluster().start();
            started = true;
        } finally {
            if (!started) {
                clientLoop.close();
            }
        }
    }

    /** See {@link io.journalq.client.Producer#send}. */
    public RecordMetadata send(ProducerRecord record) {
        int boundBytes = recordBound(record);
        TopicLanes topic = topicToSend(record.topic(), record.partition());
        Lane lane = topic.laneFor(record, boundBytes);
        long timestampMs = timestampOf(record);
        long usedBytes = memory.acquire(boundBytes);
        if (isLone(usedBytes)) {
            RecordMetadata sent = direct.send(lane, record, timestampMs, boundBytes);
            if (sent != null) {
                return sent;
            }
        }
        Append append = new Append(lane, boundBytes);
        append.run(record, timestampMs, null);
        if (loop.completesGathering(usedBytes, boundBytes)) {
            loop.drainNow();
        }
        append.batch.await();
        return append.batch.result(append.index, timestampMs);
    }

    /**
     * Whether the sender may use the direct path. A sender that is merely the first of many after a response may not.
     */
    private boolean isLone(long usedBytes) {
        if (usedBytes == 0) {
            return direct != null && ++loneSends > LONE_SENDS_BEFORE_DIRECT;
        }
        if (loneSends != 0) {
            loneSends = 0;
        }
        return false;
    }

    /** See {@link io.journalq.client.Producer#sendAsync}. */
    public CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record) {
        int boundBytes = recordBound(record);
        TopicLanes topic = topicToSend(record.topic(), record.partition());
        Lane lane = topic.laneFor(record, boundBytes);
        long usedBytes = memory.acquire(boundBytes);
        Append append = new Append(lane, boundBytes);
        append.run(record, timestampOf(record), PendingBatch.RecordFuture::new);
        if (loop.completesGathering(usedBytes, boundBytes)) {
            loop.drainNow();
        }
        return append.future;
    }

    /** See {@link io.journalq.client.Producer#sendBatch}. */
    public CompletableFuture<BatchMetadata> sendBatch(String topicName, int partition, List<ProducerRecord> records) {
        if (records.isEmpty()) {
            throw new IllegalArgumentException("a batch must contain at least one record");
        }
        TopicLanes topic = topicToSend(topicName, partition);
        Lane lane = partition == ProducerRecord.ANY_PARTITION ? topic.nextLane() : topic.lane(partition);
        long boundBytes = RecordBatch.HEADER_SIZE_BYTES;
        for (int i = 0; i < records.size(); i++) {
            boundBytes += recordBound(Arguments.notNull(records.get(i), "each of records"));
        }
        checkSize(boundBytes);
        memory.acquire(boundBytes);
        boolean handedOver = false;
        try {
            PendingBatch batch =
                    new PendingBatch(lane, topic.takeBuilder(true), System.nanoTime(), deliveryTimeoutNanos);
            BatchFuture result = new BatchFuture();
            batch.setBatchFuture(result);
            batch.accountedBytes = boundBytes;
            fill(batch, records);
            if (topic.sealer() == null) {
                build(batch);
                enqueue(lane, batch);
                handedOver = true;
            } else {
                // The seal contains the place of the batch in its lane, so that it is built there.
                enqueue(lane, batch);
                handedOver = true;
                buildQueued(lane, batch);
            }
            return result;
        } finally {
            if (!handedOver) {
                memory.release(boundBytes);
            }
        }
    }

    /** See {@link io.journalq.client.Producer#flush}. */
    public void flush() {
        List<PendingBatch> incomplete = new ArrayList<>();
        for (TopicLanes topic : topics.values()) {
            for (Lane lane : topic.lanes()) {
                boolean signal;
                lane.lock.lock();
                try {
                    if (lane.open != null) {
                        lane.open.urgent = true;
                    }
                    incomplete.addAll(lane.incomplete);
                    signal = lane.markQueued();
                } finally {
                    lane.lock.unlock();
                }
                if (signal) {
                    loop.signal(lane);
                }
            }
        }
        for (PendingBatch batch : incomplete) {
            while (!batch.isNotified()) {
                LockSupport.parkNanos(FLUSH_POLL_NANOS);
                if (Thread.interrupted()) {
                    throw interruptedFlush(null);
                }
            }
        }
        if (!clientLoop.eventLoop().inEventLoop()) {
            awaitFutures();
        }
    }

    /** A result is published before its futures are complete, in the same task of the event loop. */
    private void awaitFutures() {
        try {
            clientLoop.eventLoop().submit(() -> {}).await();
        } catch (InterruptedException e) {
            throw interruptedFlush(e);
        } catch (RejectedExecutionException closed) {
            // The loop has ended, and that task before.
        }
    }

    private static InterruptedWaitException interruptedFlush(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new InterruptedWaitException("interrupted during a flush; records may still be sent", cause);
    }

    /** See {@link io.journalq.client.Producer#partitionCount}. */
    public int partitionCount(String topic) {
        return topic(topic).partitionCount();
    }

    /** The connections. */
    public Cluster cluster() {
        return loop.cluster();
    }

    /** Sets the producer id and epoch of the next transaction. On the event loop. */
    public void adopt(long producerId, short producerEpoch) {
        loop.identity().adopt(producerId, producerEpoch);
    }

    /** Tries to send the batches again that the gate has held back. On the event loop. */
    public void onAdmitted() {
        loop.onIdentity();
    }

    /** Fails all batches that are not in flight. On the event loop. */
    public void failWaiting(JournalQException cause) {
        loop.failAll(cause);
    }

    public Counters counters() {
        return counters;
    }

    /** The buffer memory in use, in bytes. */
    public long bufferedBytes() {
        return memory.usedBytes();
    }

    /** Flushes, then fails records that were added too late. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            flush();
        } finally {
            if (direct != null) {
                direct.close();
            }
            memory.close();
            clientLoop.eventLoop().submit(loop::close).syncUninterruptibly();
            clientLoop.close();
            if (config.sealer() != null) {
                config.sealer().close();
            }
        }
    }

    /** Encodes the records in the calling thread. Releases the builder on failure. */
    private static void fill(PendingBatch batch, List<ProducerRecord> records) {
        BatchBuilder builder = batch.slot.builder();
        boolean filled = false;
        try {
            long nowMs = System.currentTimeMillis();
            for (int i = 0; i < records.size(); i++) {
                ProducerRecord record = records.get(i);
                long timestampMs = record.timestampMs() == ProducerRecord.SEND_TIME ? nowMs : record.timestampMs();
                builder.append(timestampMs, record.key(), record.value(), record.headers());
            }
            filled = true;
        } finally {
            if (!filled) {
                batch.releaseBuffers();
            }
        }
    }

    /** Compresses a batch that is in no lane, in the calling thread. */
    private static void build(PendingBatch batch) {
        batch.build();
        if (batch.buildError() != null) {
            throw new IllegalStateException("cannot build a batch", batch.buildError());
        }
    }

    /** Compresses and seals a batch that is in its lane, in the calling thread. */
    private void buildQueued(Lane lane, PendingBatch batch) {
        batch.build();
        // The loop may have checked the lane before the batch was built.
        if (mark(lane)) {
            loop.signal(lane);
        }
    }

    private void enqueue(Lane lane, PendingBatch batch) {
        PendingBatch before;
        boolean signal;
        boolean accepted = false;
        lane.lock.lock();
        try {
            lane.checkNotShut();
            accepted = true;
            before = lane.closeOpen();
            lane.addClosed(batch);
            signal = lane.markQueued();
        } finally {
            lane.lock.unlock();
            if (!accepted) {
                batch.releaseBuffers();
            }
        }
        if (before != null) {
            before.build();
            signal |= mark(lane);
        }
        if (signal) {
            loop.signal(lane);
        }
    }

    private static boolean mark(Lane lane) {
        lane.lock.lock();
        try {
            return lane.markQueued();
        } finally {
            lane.lock.unlock();
        }
    }

    /** Throws if the producer is closed. */
    public void requireOpen() {
        if (closed.get()) {
            throw Cluster.closedClient();
        }
    }

    /**
     * Returns the lanes of a topic to which a record is sent.
     *
     * @param partition the chosen partition, which may have been added a moment ago, or {@code ANY_PARTITION}. A stage
     *     of a future, which runs on the event loop, does not wait for it: the metadata could not arrive
     */
    private TopicLanes topicToSend(String name, int partition) {
        requireOpen();
        if (config.sealer() != null) {
            config.sealer().prepare(name);
        }
        TopicLanes topic = topic(name);
        if (partition >= topic.partitionCount() && !clientLoop.eventLoop().inEventLoop()) {
            topic.follow(loop.cluster()
                    .metadata()
                    .awaitPartition(
                            new TopicPartition(name, partition), config.client().callTimeoutMs()));
        }
        return topic;
    }

    private TopicLanes topic(String name) {
        requireOpen();
        TopicLanes known = topics.get(name);
        if (known != null) {
            return known;
        }
        ClusterView.Topic described =
                loop.cluster().metadata().awaitTopic(name, config.client().callTimeoutMs());
        return topics.computeIfAbsent(name, key -> new TopicLanes(described, config));
    }

    private int recordBound(ProducerRecord record) {
        byte[] key = record.key();
        byte[] value = record.value();
        int boundBytes = BatchBuilder.maxRecordSizeBytes(
                key == null ? 0 : key.length, value == null ? 0 : value.length, record.headers());
        checkSize(boundBytes);
        return boundBytes;
    }

    private void checkSize(long boundBytes) {
        if (boundBytes > config.maxRequestSizeBytes()) {
            throw new RecordTooLargeException("the batch can have up to " + boundBytes + " bytes, but the maximum is "
                    + config.maxRequestSizeBytes()
                    + "; send less at once, or raise maxRequestSizeBytes and the topic's max.message.bytes");
        }
    }

    private static long timestampOf(ProducerRecord record) {
        return record.timestampMs() == ProducerRecord.SEND_TIME ? System.currentTimeMillis() : record.timestampMs();
    }

    /** Creates the future of an asynchronous send. Null for a synchronous send, whose thread waits for the batch. */
    private interface FutureMaker {
        PendingBatch.RecordFuture make(int index, long timestampMs);
    }

    /** Appends one record to the open batch of its lane. */
    private final class Append {
        private final Lane lane;
        private final int boundBytes;
        private PendingBatch batch;
        private int index;
        private PendingBatch.RecordFuture future;
        private PendingBatch toBuild;
        private boolean signal;

        private Append(Lane lane, int boundBytes) {
            this.lane = lane;
            this.boundBytes = boundBytes;
        }

        private void run(ProducerRecord record, long timestampMs, FutureMaker maker) {
            boolean appended = false;
            lane.lock.lock();
            try {
                lane.checkNotShut();
                batch = batchWithRoom();
                BatchBuilder builder = batch.slot.builder();
                index = builder.recordCount();
                try {
                    builder.append(timestampMs, record.key(), record.value(), record.headers());
                    appended = true;
                } finally {
                    if (!appended && index == 0) {
                        removeEmpty();
                    }
                }
                batch.accountedBytes += boundBytes;
                if (maker == null) {
                    batch.urgent = true;
                    batch.addWaiter(Thread.currentThread());
                } else {
                    future = maker.make(index, timestampMs);
                    batch.addFuture(future);
                }
                if (builder.sizeBytes() >= config.batchSizeBytes() && toBuild == null) {
                    toBuild = lane.closeOpen();
                }
                signal = (maker == null || index == 0 || toBuild != null) && lane.markQueued();
            } finally {
                lane.lock.unlock();
                if (!appended) {
                    memory.release(boundBytes);
                }
                // Even if there is no memory for this record: no other thread builds the batch before it.
                finishClosed();
            }
        }

        private PendingBatch batchWithRoom() {
            PendingBatch open = lane.open;
            if (open != null && open.slot.builder().sizeBytes() + boundBytes > config.batchSizeBytes()) {
                toBuild = lane.closeOpen();
                open = null;
            }
            if (open == null) {
                boolean bulk = toBuild != null || lane.lastBatchHeldMany;
                open = new PendingBatch(lane, lane.topic.takeBuilder(bulk), System.nanoTime(), deliveryTimeoutNanos);
                lane.open = open;
                lane.incomplete.add(open);
            }
            return open;
        }

        /** A batch without a record cannot be built, and would count as a failed one. */
        private void removeEmpty() {
            lane.open = null;
            lane.incomplete.remove(batch);
            batch.releaseBuffers();
        }

        private void finishClosed() {
            if (toBuild != null) {
                toBuild.build();
                // The loop may have checked the lane before the batch was built.
                signal |= mark(lane);
            }
            if (signal) {
                loop.signal(lane);
            }
        }
    }
}
