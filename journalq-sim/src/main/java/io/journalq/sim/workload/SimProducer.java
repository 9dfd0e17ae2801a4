package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends records to one partition. An idempotent producer has up to five batches in flight, and sends unacknowledged
 * batches again in order. Other producers send each batch once, and do not know its outcome if no response arrives.
 */
public final class SimProducer {
    private static final int MOST_IN_FLIGHT = 5;
    private static final int PRODUCE_VERSION = 12;
    private static final int INIT_VERSION = 4;
    /** The shortest makes a producer send as fast as it may, the longest makes it wait for most responses. */
    private static final int[] LONGEST_PAUSES_MS = {1, 4, 20};

    private static final int RETRY_PAUSE_MS = 50;
    private static final long NO_ID = -1;

    private final World world;
    private final PartitionHistory partition;
    private final String name;
    private final boolean idempotent;
    private final int longestPauseMs;
    private final ArrayDeque<Batch> unresolved = new ArrayDeque<>();
    /** In the order in which they were sent on this connection, which is the order of the responses. */
    private final ArrayDeque<Batch> inFlight = new ArrayDeque<>();

    private SimBroker.Connection connection;
    private long producerId = NO_ID;
    private int generation;
    private int nextSequence;
    private int nextNumber;
    private boolean failed;
    private ErrorCode headError = ErrorCode.NONE;

    /** Records of one batch. */
    private static final class Batch {
        private final List<SentRecord> records = new ArrayList<>();
        private final int sequence;
        private final CompressionCodec codec;
        /** The error of the response; null if none has arrived. */
        private ErrorCode outcome;

        Batch(int sequence, CompressionCodec codec) {
            this.sequence = sequence;
            this.codec = codec;
        }
    }

    /** A producer that starts with the next life of the broker. */
    public SimProducer(World world, PartitionHistory partition, String name, boolean idempotent) {
        this.world = world;
        this.partition = partition;
        this.name = name;
        this.idempotent = idempotent;
        this.longestPauseMs = LONGEST_PAUSES_MS[world.random().nextInt(LONGEST_PAUSES_MS.length)];
    }

    /** Whether the topic was deleted. */
    public boolean isDone() {
        return partition.isGone();
    }

    /** A life of the broker begins. Requests in flight get no response. */
    public void onStart() {
        connection = world.broker().connect();
        inFlight.clear();
        failed = false;
        headError = ErrorCode.NONE;
        if (!idempotent) {
            unresolved.clear();
        }
        if (unresolved.isEmpty()) {
            pause();
        } else {
            world.later(RETRY_PAUSE_MS, this::resend);
        }
    }

    private void pause() {
        world.later(longestPauseMs, this::act);
    }

    private void act() {
        if (partition.isGone()) {
            return;
        }
        if (failed) {
            return; // continues when all responses have arrived
        }
        if (idempotent && producerId == NO_ID) {
            begin();
            return;
        }
        if (unresolved.size() < (idempotent ? MOST_IN_FLIGHT : 1)) {
            Batch batch = newBatch();
            unresolved.add(batch);
            send(batch);
        }
        pause();
    }

    private void begin() {
        connection.send(
                ApiKey.INIT_PRODUCER_ID,
                INIT_VERSION,
                new InitProducerIdRequest().setTransactionalId(null),
                message -> {
                    InitProducerIdResponse response = (InitProducerIdResponse) message;
                    ErrorCode error =
                            response == null ? ErrorCode.UNKNOWN_SERVER_ERROR : ErrorCode.of(response.errorCode());
                    if (error == ErrorCode.NONE) {
                        world.onProducerId(response.producerId());
                    }
                    world.deliver(() -> {
                        if (error == ErrorCode.NONE && producerId == NO_ID) {
                            producerId = response.producerId();
                            nextSequence = 0;
                            generation++;
                        }
                        pause();
                    });
                });
    }

    private Batch newBatch() {
        CompressionCodec codec = world.random().nextInt(4) == 0 ? CompressionCodec.LZ4 : CompressionCodec.NONE;
        Batch batch = new Batch(nextSequence, codec);
        for (int i = 1 + world.random().nextInt(3); i > 0; i--) {
            int number = nextNumber++;
            SentRecord record =
                    new SentRecord(name + ":" + number, name + "/" + generation, number, partition.newContent(world));
            partition.add(record);
            batch.records.add(record);
        }
        nextSequence += batch.records.size();
        return batch;
    }

    private void send(Batch batch) {
        inFlight.add(batch);
        batch.outcome = null;
        ByteBuf encoded = encode(batch);
        ProduceRequest request = new ProduceRequest()
                .setAcks((short) -1)
                .setTimeoutMs(30_000)
                .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                        .setName(partition.topic())
                        .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                .setIndex(partition.partition())
                                .setRecords(RecordsData.of(encoded))))));
        connection.send(ApiKey.PRODUCE, PRODUCE_VERSION, request, message -> onResponse(batch, message));
    }

    private ByteBuf encode(Batch batch) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, batch.codec)) {
            if (idempotent) {
                builder.setProducerState(producerId, (short) 0, batch.sequence, false);
            }
            return SentRecord.encode(builder, partition, batch.records);
        }
    }

    /**
     * Called at the moment when the broker responds. From then on, its guarantee holds, whether or not the response
     * arrives.
     */
    private void onResponse(Batch batch, ApiMessage message) {
        ErrorCode error = ErrorCode.UNKNOWN_SERVER_ERROR;
        if (message instanceof ProduceResponse response) {
            ProduceResponse.PartitionProduceResponse data =
                    response.responses().get(0).partitionResponses().get(0);
            error = ErrorCode.of(data.errorCode());
            for (int i = 0; error == ErrorCode.NONE && i < batch.records.size(); i++) {
                world.onAcknowledged(partition, batch.records.get(i), data.baseOffset() + i);
            }
        }
        if (error == ErrorCode.NONE) {
            world.did(idempotent ? Work.IDEMPOTENT_BATCHES : Work.PLAIN_BATCHES, 1);
        }
        ErrorCode outcome = error;
        world.deliver(() -> {
            batch.outcome = outcome;
            while (!inFlight.isEmpty() && inFlight.peek().outcome != null) {
                Batch first = inFlight.poll();
                onDelivered(first, first.outcome);
            }
        });
    }

    private void onDelivered(Batch batch, ErrorCode error) {
        boolean stored = error == ErrorCode.NONE || error == ErrorCode.DUPLICATE_SEQUENCE_NUMBER;
        if (stored || !idempotent) {
            unresolved.remove(batch);
        } else {
            failed = true;
            if (batch == unresolved.peek()) {
                headError = error;
            }
        }
        if (failed && inFlight.isEmpty()) {
            world.later(RETRY_PAUSE_MS, this::resend);
        }
    }

    private void resend() {
        failed = false;
        if (partition.isGone()) {
            return;
        }
        if (isFatal(headError)) {
            // On a full disk, the state of producers may be lost.
            boolean forgotten = world.diskFillsUp() && partition.losesItsBeginning();
            if (!world.isHarmed() && !forgotten && !partition.mayBreakSequences()) {
                world.violations().report("ValidProducersAreServed", name + " on " + partition + " gets " + headError);
            }
            // The outcome of the other batches is unknown. A new producer id begins a new order.
            unresolved.clear();
            producerId = NO_ID;
        }
        headError = ErrorCode.NONE;
        unresolved.forEach(this::send);
        pause();
    }

    private static boolean isFatal(ErrorCode error) {
        return error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
                || error == ErrorCode.UNKNOWN_PRODUCER_ID
                || error == ErrorCode.INVALID_PRODUCER_EPOCH;
    }
}
