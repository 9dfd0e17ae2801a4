package io.journalq.client.produce;

import io.journalq.client.BatchMetadata;
import io.journalq.client.JournalQException;
import io.journalq.client.ProducerMetrics;
import io.journalq.client.ProducerRecord;
import io.journalq.client.RecordMetadata;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.RecordTooLargeException;
import io.journalq.client.network.ClientLoop;
import io.journalq.client.network.Cluster;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The senders' side of a producer: any thread puts records into the open batches of the lanes, or ready batches behind
 * them, and waits if it wants to. Thread-safe; a thread holds at most one lane's lock, and never while it blocks.
 */
public final class Sender implements AutoCloseable {
    /** So many sends in a row that find nothing under way are those of a lone sender. */
    private static final int LONE_SENDS_BEFORE_DIRECT = 8;

    private static final long FLUSH_POLL_NANOS = 100_000;

    private final ProducerConfig config;
    private final Map<String, TopicLanes> topics = new ConcurrentHashMap<>();
    private final Counters counters = new Counters();
    private final BufferMemory memory;
    private final ClientLoop clientLoop;
    private final ProduceLoop loop;
    private final DirectLine direct;
    private final long deliveryTimeoutNanos;
    private volatile boolean closed;
    /** May be off by some when senders race. */
    private int loneSends = LONE_SENDS_BEFORE_DIRECT;

    /**
     * A sender whose loop runs.
     *
     * @param gate what batches have to pass
     */
    public Sender(ProducerConfig config, Gate gate) {
        this.config = config;
        this.memory =
                new BufferMemory(config.bufferMemoryBytes(), config.client().callTimeoutMs());
        this.deliveryTimeoutNanos = TimeUnit.MILLISECONDS.toNanos(config.deliveryTimeoutMs());
        this.clientLoop = ClientLoop.acquire();
        this.loop = new ProduceLoop(config, topics.values(), counters, clientLoop.eventLoop(), memory, gate);
        this.direct = loop.expectsAnswers() && !config.transactional()
                ? new DirectLine(loop, config, counters, memory)
                : null;
        loop.setDirect(direct);
        loop.cluster().metadata().allowAutoCreation();
        loop.cluster().start();
    }

    /** See {@link io.journalq.client.Producer#send}. */
    public RecordMetadata send(ProducerRecord record) {
        int boundBytes = recordBound(record);
        TopicLanes topic = topic(record.topic());
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

    /** Whether the sender may go the direct way. One of many that only is the first after an answer may not. */
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
        TopicLanes topic = topic(record.topic());
        Lane lane = topic.laneFor(record, boundBytes);
        long usedBytes = memory.acquire(boundBytes);
        Append append = new Append(lane, boundBytes);
        append.run(record, timestampOf(record), RecordFuture::new);
        if (loop.completesGathering(usedBytes, boundBytes)) {
            loop.drainNow();
        }
        return append.future;
    }

    /** See {@link io.journalq.client.Producer#sendBatch}. */
    public CompletableFuture<BatchMetadata> sendBatch(String topicName, int partition, List<ProducerRecord> records) {
        if (records.isEmpty()) {
            throw new IllegalArgumentException("a batch of no records; give at least one");
        }
        TopicLanes topic = topic(topicName);
        Lane lane = partition == ProducerRecord.ANY_PARTITION ? topic.nextLane() : topic.lane(partition);
        long boundBytes = RecordBatch.HEADER_SIZE_BYTES;
        for (int i = 0; i < records.size(); i++) {
            boundBytes += recordBound(records.get(i));
        }
        checkSize(boundBytes);
        memory.acquire(boundBytes);
        boolean handedOver = false;
        try {
            PendingBatch batch =
                    new PendingBatch(lane, topic.takeBuilder(true), System.nanoTime(), deliveryTimeoutNanos);
            CompletableFuture<BatchMetadata> result = new CompletableFuture<>();
            batch.setBatchFuture(result);
            batch.accountedBytes = boundBytes;
            fill(batch, records);
            enqueue(lane, batch);
            handedOver = true;
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
            while (!batch.isTold()) {
                LockSupport.parkNanos(FLUSH_POLL_NANOS);
                if (Thread.interrupted()) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedWaitException("interrupted during a flush; records may still be sent", null);
                }
            }
        }
    }

    /** See {@link io.journalq.client.Producer#partitionCount}. */
    public int partitionCount(String topic) {
        return topic(topic).lanes().length;
    }

    /** The connections. */
    public Cluster cluster() {
        return loop.cluster();
    }

    /** The producer id and epoch of the transactions that come. On the event loop. */
    public void adopt(long producerId, short producerEpoch) {
        loop.identity().adopt(producerId, producerEpoch);
    }

    /** The gate admits partitions that it held back. On the event loop. */
    public void onAdmitted() {
        loop.onIdentity();
    }

    /** Fails what is not on its way yet. On the event loop. */
    public void failWaiting(JournalQException cause) {
        loop.failAll(cause);
    }

    public ProducerMetrics metrics() {
        return counters.snapshot(memory.usedBytes());
    }

    /** Flushes, then fails what came too late. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            flush();
        } finally {
            if (direct != null) {
                direct.close();
            }
            memory.close();
            clientLoop.eventLoop().submit(loop::close).syncUninterruptibly();
            clientLoop.close();
        }
    }

    /** Encodes and compresses in the calling thread; on failure the builder goes back. */
    private static void fill(PendingBatch batch, List<ProducerRecord> records) {
        BatchBuilder builder = batch.slot.builder();
        boolean built = false;
        try {
            long nowMs = System.currentTimeMillis();
            for (int i = 0; i < records.size(); i++) {
                ProducerRecord record = records.get(i);
                long timestampMs = record.timestampMs() == ProducerRecord.SEND_TIME ? nowMs : record.timestampMs();
                builder.append(timestampMs, record.key(), record.value(), record.headers());
            }
            batch.build();
            built = batch.buildError() == null;
            if (!built) {
                throw new IllegalStateException("a batch could not be built", batch.buildError());
            }
        } finally {
            if (!built) {
                batch.releaseBuffers();
            }
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
            lane.closed.add(batch);
            lane.incomplete.add(batch);
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

    private TopicLanes topic(String name) {
        if (closed) {
            throw new ClientClosedException("the producer is closed; build another");
        }
        TopicLanes known = topics.get(name);
        if (known != null) {
            return known;
        }
        int count = loop.cluster()
                .metadata()
                .awaitTopic(name, config.client().callTimeoutMs())
                .partitionCount();
        return topics.computeIfAbsent(name, key -> new TopicLanes(key, config, count));
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
            throw new RecordTooLargeException("up to " + boundBytes + " bytes in one batch, more than the "
                    + config.maxRequestSizeBytes()
                    + " allowed; send less at once, or raise maxRequestSizeBytes and the topic's max.message.bytes");
        }
    }

    private static long timestampOf(ProducerRecord record) {
        return record.timestampMs() == ProducerRecord.SEND_TIME ? System.currentTimeMillis() : record.timestampMs();
    }

    /** Makes the result of an asynchronous send; null for a synchronous one, whose thread waits on the batch. */
    private interface FutureMaker {
        RecordFuture make(int index, long timestampMs);
    }

    /** One record on its way into its lane's open batch. */
    private final class Append {
        private final Lane lane;
        private final int boundBytes;
        private PendingBatch batch;
        private int index;
        private RecordFuture future;
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
                builder.append(timestampMs, record.key(), record.value(), record.headers());
                appended = true;
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
            }
            finishClosed();
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

        private void finishClosed() {
            if (toBuild != null) {
                toBuild.build();
                // The loop may have looked before the batch was built.
                signal |= mark(lane);
            }
            if (signal) {
                loop.signal(lane);
            }
        }
    }
}
