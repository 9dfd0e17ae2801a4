package io.journalq.client.produce;

import io.journalq.client.JournalQException;
import io.journalq.client.ProducerRecord;
import io.journalq.client.RecordMetadata;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.Errors;
import io.journalq.client.network.BlockingConnection;
import io.journalq.client.network.ClientConfig;
import io.journalq.client.network.ClusterView;
import io.journalq.client.network.HostAndPort;
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
 * The way of a lone synchronous sender: while nothing else of the producer is on its way, the caller itself writes its
 * record to a connection of its own and reads the answer, without the event loop.
 *
 * <p>Order and idempotence hold because the caller first claims the line, by a flag that nobody waits for, and then the
 * idle lane ({@link Lane#claimDirect}): until it gives the lane back, records of others for that partition gather and
 * are not sent. What does not succeed at once is handed to the loop as a batch to send again under the same number.
 */
final class DirectLine {
    private final ProduceLoop loop;
    private final ProducerConfig config;
    private final Counters counters;
    private final BufferMemory memory;
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile BlockingConnection connection;
    private volatile long startedNanos;
    private volatile boolean inExchange;

    // Under the busy flag.
    private final BatchBuilder builder;
    private final AdaptiveCompression adaptive = new AdaptiveCompression();
    private HostAndPort connectedTo;
    private short version;
    private long noConnectBeforeNanos = System.nanoTime();
    private int connectFailures;
    private boolean closed;

    DirectLine(ProduceLoop loop, ProducerConfig config, Counters counters, BufferMemory memory) {
        this.loop = loop;
        this.config = config;
        this.counters = counters;
        this.memory = memory;
        this.builder = new BatchBuilder(ByteBufAllocator.DEFAULT, config.compression());
    }

    /**
     * Sends a record and waits, if line and lane are free.
     *
     * @param accountedBytes taken from the buffer memory for the record; given back with the acknowledgement
     * @return null when the record must go the other way; nothing has then happened
     */
    RecordMetadata send(Lane lane, ProducerRecord record, long timestampMs, long accountedBytes) {
        if (!busy.compareAndSet(false, true)) {
            return null;
        }
        PendingBatch batch;
        RecordMetadata sent;
        try {
            if (closed || !connect(lane) || !claim(lane)) {
                return null;
            }
            batch = build(lane, record, timestampMs);
            batch.accountedBytes = accountedBytes;
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

    /** Breaks an exchange off that takes longer than a request may. On the event loop. */
    void checkTimeout(long nowNanos) {
        BlockingConnection current = connection;
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(config.client().requestTimeoutMs());
        if (current != null && inExchange && nowNanos - startedNanos > timeoutNanos) {
            current.close();
        }
    }

    /** Ends the line; a send under way fails or finishes first. */
    void close() {
        BlockingConnection current = connection;
        if (current != null && inExchange) {
            current.close();
        }
        while (!busy.compareAndSet(false, true)) {
            Thread.onSpinWait();
        }
        try {
            closed = true;
            disconnect();
            builder.close();
        } finally {
            busy.set(false);
        }
    }

    private boolean connect(Lane lane) {
        ClusterView view = loop.cluster().metadata().view();
        HostAndPort leader = view.brokers().get(view.leader(lane.id.topic(), lane.id.partition()));
        if (leader == null) {
            return false;
        }
        if (connection != null && leader.equals(connectedTo)) {
            return true;
        }
        disconnect();
        if (System.nanoTime() - noConnectBeforeNanos < 0) {
            return false;
        }
        ClientConfig client = config.client();
        try {
            BlockingConnection opened = BlockingConnection.open(leader, client);
            connection = opened;
            version = opened.version(ApiKey.PRODUCE, ProduceCall.NEWEST_VERSION);
            connectedTo = leader;
            connectFailures = 0;
            return true;
        } catch (IOException | JournalQException e) {
            // The event loop's connection decides whether the broker can be reached.
            disconnect();
            connectFailures++;
            noConnectBeforeNanos = System.nanoTime()
                    + TimeUnit.MILLISECONDS.toNanos(client.reconnectBackoff().delayMs(connectFailures));
            return false;
        }
    }

    private void disconnect() {
        BlockingConnection old = connection;
        connection = null;
        connectedTo = null;
        if (old != null) {
            old.close();
            old.release();
        }
    }

    private boolean claim(Lane lane) {
        lane.lock.lock();
        try {
            if (!lane.claimDirect()) {
                return false;
            }
        } finally {
            lane.lock.unlock();
        }
        if (config.idempotent() && !loop.identity().give(lane)) {
            giveBack(lane);
            return false;
        }
        return true;
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

    private PendingBatch build(Lane lane, ProducerRecord record, long timestampMs) {
        boolean built = false;
        try {
            if (config.idempotent()) {
                builder.setProducerState(lane.producerId, lane.producerEpoch, lane.nextSequence, false);
            }
            ByteBuf payload =
                    builder.buildSingle(timestampMs, record.key(), record.value(), record.headers(), adaptive);
            PendingBatch batch = new PendingBatch(
                    lane, payload, System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(config.deliveryTimeoutMs()));
            if (config.idempotent()) {
                batch.producerId = lane.producerId;
                batch.producerEpoch = lane.producerEpoch;
                batch.baseSequence = lane.nextSequence;
                lane.nextSequence = Lane.sequenceAfter(lane.nextSequence, 1);
            }
            built = true;
            return batch;
        } finally {
            if (!built) {
                builder.reset();
                giveBack(lane);
            }
        }
    }

    /** Returns null when the loop has taken the batch over. */
    private RecordMetadata exchange(Lane lane, PendingBatch batch, long timestampMs) {
        ProduceResponse answer;
        try {
            counters.requests.increment();
            counters.sentBytes.add(batch.payload().readableBytes());
            startedNanos = System.nanoTime();
            inExchange = true;
            answer = (ProduceResponse) connection.exchange(
                    ApiKey.PRODUCE,
                    version,
                    ProduceCall.request(
                            List.of(batch),
                            config.acks().code(),
                            config.client().requestTimeoutMs()));
        } catch (IOException e) {
            disconnect();
            batch.outcomeUnknown = true;
            handOver(lane, batch, new ConnectionFailedException("the connection broke: " + e.getMessage(), e));
            return null;
        } finally {
            inExchange = false;
        }
        return accept(lane, batch, partitionOf(answer), timestampMs);
    }

    private static ProduceResponse.PartitionProduceResponse partitionOf(ProduceResponse answer) {
        if (answer.responses().size() != 1
                || answer.responses().get(0).partitionResponses().size() != 1) {
            return null;
        }
        return answer.responses().get(0).partitionResponses().get(0);
    }

    private RecordMetadata accept(
            Lane lane, PendingBatch batch, ProduceResponse.PartitionProduceResponse answer, long timestampMs) {
        if (answer == null) {
            batch.outcomeUnknown = true;
            handOver(lane, batch, ProduceLoop.notAnswered());
            return null;
        }
        ErrorCode error = ErrorCode.of(answer.errorCode());
        if (error == ErrorCode.NONE || error == ErrorCode.DUPLICATE_SEQUENCE_NUMBER) {
            long offset = error == ErrorCode.NONE ? answer.baseOffset() : RecordMetadata.UNKNOWN_OFFSET;
            counters.records.increment();
            counters.batches.increment();
            counters.directSends.increment();
            lane.established = true;
            finish(lane, batch);
            long appendedMs = answer.logAppendTimeMs();
            return new RecordMetadata(
                    lane.id.topic(), lane.id.partition(), offset, appendedMs >= 0 ? appendedMs : timestampMs);
        }
        JournalQException cause = Errors.of(error, "send to " + lane.id, answer.errorMessage());
        batch.rejected = Settling.isRejection(error) && config.idempotent();
        if (!batch.rejected && !error.retriable()) {
            counters.failedRecords.increment();
            finish(lane, batch);
            throw cause;
        }
        batch.outcomeUnknown = !batch.rejected && Settling.mayHaveAppended(error);
        handOver(lane, batch, cause);
        return null;
    }

    private void finish(Lane lane, PendingBatch batch) {
        batch.releaseBuffers();
        memory.release(batch.accountedBytes);
        giveBack(lane);
    }

    /** Makes the batch one that the loop sends again, before whatever gathered behind it. */
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
        loop.cluster().eventLoop().execute(() -> loop.cluster().metadata().requestUpdate());
        giveBack(lane);
    }
}
