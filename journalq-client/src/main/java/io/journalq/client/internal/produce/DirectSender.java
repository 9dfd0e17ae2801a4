package io.journalq.client.internal.produce;

import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.BlockingConnection;
import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.internal.network.Errors;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.AdaptiveCompression;
import io.journalq.common.record.BatchBuilder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The fast path for a single synchronous sender. While the producer has nothing else in flight, the calling thread
 * itself writes its record to a separate connection and reads the response, without the event loop.
 *
 * <p>Order and idempotence are preserved, because the caller first acquires this path with a flag that nobody waits
 * for, and then the idle lane ({@link Lane#claimDirect}). Until it releases the lane, other records for the partition
 * are collected but not sent. If the send does not succeed at once, the batch is passed to the event loop, which
 * retries it with the same sequence number.
 */
final class DirectSender {
    private final ProduceLoop loop;
    private final ProducerConfig config;
    private final Sender.Counters counters;
    private final BufferMemory memory;
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile BlockingConnection connection;
    /** Until when what the sender waits for must end. */
    private volatile long deadlineNanos;

    private volatile boolean waits;

    // Guarded by the busy flag.
    private final BatchBuilder builder;
    private final AdaptiveCompression adaptive = new AdaptiveCompression();
    /** Seals the next batch; null if batches are not sealed. */
    private BatchSealer.Place place;

    /** When the last record was given to this sender. */
    private long startNanos;

    private HostAndPort connectedTo;
    private short version;
    private long noConnectBeforeNanos = System.nanoTime();
    private int connectFailures;
    private boolean closed;

    DirectSender(ProduceLoop loop, ProducerConfig config, Sender.Counters counters, BufferMemory memory) {
        this.loop = loop;
        this.config = config;
        this.counters = counters;
        this.memory = memory;
        this.builder = new BatchBuilder(ByteBufAllocator.DEFAULT, config.compression());
    }

    /**
     * Sends a record and waits, if this path and the lane are free.
     *
     * @param accountedBytes the buffer memory that was reserved for the record; released with the acknowledgement
     * @return null if the record must be sent by the event loop; then this call had no effect
     */
    RecordMetadata send(Lane lane, ProducerRecord record, long timestampMs, long accountedBytes) {
        if (!busy.compareAndSet(false, true)) {
            return null;
        }
        startNanos = System.nanoTime();
        PendingBatch batch;
        RecordMetadata sent;
        try {
            if (closed || !prepare(lane, accountedBytes)) {
                return null;
            }
            batch = build(lane, record, timestampMs, accountedBytes);
            sent = exchange(lane, batch, timestampMs);
        } finally {
            busy.set(false);
        }
        if (sent == null) {
            batch.await();
            sent = batch.result(0, timestampMs);
        }
        return sent;
    }

    /** Aborts what takes too long: an exchange, or the opening of the connection. On the event loop. */
    void checkTimeout(long nowNanos) {
        BlockingConnection current = connection;
        if (current != null && waits && nowNanos - deadlineNanos > 0) {
            current.close();
        }
    }

    /** Closes the connection. A running send fails or completes first. */
    void close() {
        do {
            BlockingConnection current = connection;
            if (current != null && waits) {
                current.close();
            }
            Thread.onSpinWait();
        } while (!busy.compareAndSet(false, true));
        try {
            closed = true;
            disconnect();
            builder.close();
        } finally {
            busy.set(false);
        }
    }

    /** Connects to the leader, and claims the lane. Returns false if this call had no effect. */
    private boolean prepare(Lane lane, long accountedBytes) {
        try {
            return connect(lane) && claim(lane);
        } catch (RuntimeException | Error e) {
            memory.release(accountedBytes);
            throw e;
        }
    }

    private boolean connect(Lane lane) {
        ClusterView view = loop.cluster().metadata().view();
        HostAndPort leader = view.brokers().get(view.leader(lane.id.topic(), lane.id.partition()));
        if (leader == null) {
            return false;
        }
        if (!leader.equals(connectedTo)) {
            disconnect();
        } else if (!connection.needsLogin()) {
            return true;
        }
        if (System.nanoTime() - noConnectBeforeNanos < 0) {
            return false;
        }
        ClientConfig client = config.client();
        waitAtMost(client.connectTimeoutMs());
        try {
            if (connection == null) {
                open(leader);
            } else {
                connection.logIn();
            }
            connectFailures = 0;
            return true;
        } catch (IOException | RuntimeException | Error e) {
            // The connection of the event loop determines whether the broker can be reached.
            disconnect();
            connectFailures++;
            noConnectBeforeNanos = System.nanoTime()
                    + TimeUnit.MILLISECONDS.toNanos(client.reconnectBackoff().delayMs(connectFailures));
            return false;
        } finally {
            waits = false;
        }
    }

    private void open(HostAndPort leader) throws IOException {
        BlockingConnection opened = new BlockingConnection(leader, config.client());
        connection = opened;
        opened.open();
        version = opened.version(ApiKey.PRODUCE, ProduceCall.NEWEST_VERSION);
        connectedTo = leader;
    }

    /** Not longer than the record may take. Then the event loop has it, and fails it. */
    private void waitAtMost(int timeoutMs) {
        long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        long lastNanos = startNanos + TimeUnit.MILLISECONDS.toNanos(config.deliveryTimeoutMs());
        deadlineNanos = untilNanos - lastNanos < 0 ? untilNanos : lastNanos;
        waits = true;
    }

    private void disconnect() {
        BlockingConnection old = connection;
        connection = null;
        connectedTo = null;
        if (old != null) {
            try {
                old.close();
            } catch (ConnectionFailedException unclosed) {
                // It is not used any more, and what was sent on it still has to be handed over.
            }
            old.release();
        }
    }

    private boolean claim(Lane lane) {
        if (config.sealer() != null && config.idempotent() && !loop.identity().isKnown()) {
            // The lane could not be kept, and its place among the sealed batches would stay empty.
            return false;
        }
        if (!claimPlace(lane)) {
            return false;
        }
        boolean kept = false;
        try {
            kept = !config.idempotent() || loop.identity().give(lane);
            return kept;
        } finally {
            if (!kept) {
                giveBack(lane);
            }
        }
    }

    private boolean claimPlace(Lane lane) {
        lane.lock.lock();
        try {
            if (!lane.claimDirect()) {
                return false;
            }
            try {
                place = lane.nextPlace();
            } catch (RuntimeException | Error e) {
                lane.releaseDirect(); // Nothing waits for it, because the lock was held.
                throw e;
            }
            return true;
        } finally {
            lane.lock.unlock();
        }
    }

    private void giveBack(Lane lane) {
        boolean signal;
        lane.lock.lock();
        try {
            signal = lane.releaseDirect();
        } finally {
            lane.lock.unlock();
        }
        if (signal) {
            loop.signal(lane);
        }
    }

    private PendingBatch build(Lane lane, ProducerRecord record, long timestampMs, long accountedBytes) {
        boolean built = false;
        try {
            if (config.idempotent()) {
                builder.setProducerState(lane.producerId, lane.producerEpoch, lane.nextSequence, false);
            }
            ByteBuf payload =
                    builder.buildSingle(timestampMs, record.key(), record.value(), record.headers(), adaptive);
            if (place != null) {
                payload = place.seal(payload);
            }
            PendingBatch batch = new PendingBatch(
                    lane, payload, startNanos, TimeUnit.MILLISECONDS.toNanos(config.deliveryTimeoutMs()));
            if (config.idempotent()) {
                batch.producerId = lane.producerId;
                batch.producerEpoch = lane.producerEpoch;
                batch.baseSequence = lane.nextSequence;
                lane.nextSequence = Lane.sequenceAfter(lane.nextSequence, 1);
            }
            batch.accountedBytes = accountedBytes;
            built = true;
            return batch;
        } finally {
            if (!built) {
                memory.release(accountedBytes);
                builder.reset();
                giveBack(lane);
            }
        }
    }

    /** Returns null if the event loop has taken over the batch. */
    private RecordMetadata exchange(Lane lane, PendingBatch batch, long timestampMs) {
        ProduceResponse response;
        try {
            counters.requests.increment();
            counters.sentBytes.add(batch.payload().readableBytes());
            waitAtMost(config.client().requestTimeoutMs());
            response = (ProduceResponse) connection.exchange(
                    ApiKey.PRODUCE,
                    version,
                    ProduceCall.request(
                            List.of(batch), config.acks(), config.client().requestTimeoutMs()));
        } catch (IOException | RuntimeException | Error e) {
            // Also if the stack of the caller is used up: the batch has a sequence number, and nobody else sends it.
            disconnect();
            batch.outcomeUnknown = true;
            handOver(lane, batch, new ConnectionFailedException("the connection broke: " + e.getMessage(), e));
            return null;
        } finally {
            waits = false;
        }
        return accept(lane, batch, partitionOf(response), timestampMs);
    }

    private static ProduceResponse.PartitionProduceResponse partitionOf(ProduceResponse response) {
        if (response.responses().size() != 1
                || response.responses().get(0).partitionResponses().size() != 1) {
            return null;
        }
        return response.responses().get(0).partitionResponses().get(0);
    }

    private RecordMetadata accept(
            Lane lane, PendingBatch batch, ProduceResponse.PartitionProduceResponse response, long timestampMs) {
        if (response == null) {
            batch.outcomeUnknown = true;
            handOver(lane, batch, ProduceLoop.missingPartition());
            return null;
        }
        ErrorCode error = ErrorCode.of(response.errorCode());
        if (error == ErrorCode.NONE || error == ErrorCode.DUPLICATE_SEQUENCE_NUMBER) {
            long offset = error == ErrorCode.NONE ? response.baseOffset() : RecordMetadata.UNKNOWN_OFFSET;
            counters.records.increment();
            counters.batches.increment();
            counters.directSends.increment();
            lane.established = true;
            finish(lane, batch);
            long appendedMs = response.logAppendTimeMs();
            return new RecordMetadata(
                    lane.id.topic(), lane.id.partition(), offset, appendedMs >= 0 ? appendedMs : timestampMs);
        }
        JournalQException cause = Errors.of(error, "send to " + lane.id, response.errorMessage());
        batch.rejected = BatchCompletion.isRejection(error) && config.idempotent();
        if (!batch.rejected && !error.retriable()) {
            counters.failedRecords.increment();
            loop.cluster().failureLog().reportIfRefused(lane.id.topic(), cause);
            finish(lane, batch);
            throw cause;
        }
        batch.outcomeUnknown = !batch.rejected && BatchCompletion.mayHaveAppended(error);
        handOver(lane, batch, cause);
        return null;
    }

    private void finish(Lane lane, PendingBatch batch) {
        batch.releaseBuffers();
        memory.release(batch.accountedBytes);
        giveBack(lane);
    }

    /** Passes the batch to the event loop, which sends it again before all batches collected after it. */
    private void handOver(Lane lane, PendingBatch batch, JournalQException cause) {
        batch.tries = 1;
        batch.lastError = cause;
        batch.order = lane.nextOrder++;
        batch.addWaiter(Thread.currentThread());
        counters.retriedBatches.increment();
        lane.lock.lock();
        try {
            lane.incomplete.addFirst(batch);
            lane.addRetry(batch);
        } finally {
            lane.lock.unlock();
        }
        loop.cluster().execute(() -> loop.cluster().metadata().requestUpdate());
        giveBack(lane);
    }
}
