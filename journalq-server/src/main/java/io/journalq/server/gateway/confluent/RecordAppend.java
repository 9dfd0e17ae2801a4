package io.journalq.server.gateway.confluent;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.produce.Targets;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Appends records to a topic, and gives each of them its own result. Records are collected first, and sent together. Only one
 * of several batches of a partition is in flight. On the connection's loop.
 */
final class RecordAppend implements AutoCloseable {
    private static final int MAX_BATCH_BYTES = 1024 * 1024;
    private static final int FIRST_BATCH_BYTES = 512;
    private static final int PRODUCE_VERSION = 12;
    private static final short ACKS_ALL = -1;
    private static final int TIMEOUT_MS = 30_000;

    private final HttpExchange exchange;
    private final Targets.Target target;
    private final int maxBatchBytes;
    private final Map<Integer, ArrayDeque<Batch>> waiting = new TreeMap<>();
    private final List<Result> results = new ArrayList<>();
    private long sizeBytes;
    private boolean sending;
    private boolean hasResponse;
    private boolean closed;

    /**
     * What became of a record.
     *
     * @param offset -1 if it was not appended
     * @param message what the broker says about an error; may be null
     */
    record Result(int partition, long offset, ErrorCode error, String message) {}

    /** A batch, and the places of its records among the results. */
    private static final class Batch {
        private final int partition;
        private final BatchBuilder builder;
        private final List<Integer> places = new ArrayList<>();
        private ByteBuf built;

        Batch(int partition, BatchBuilder builder) {
            this.partition = partition;
            this.builder = builder;
        }

        ByteBuf build() {
            built = builder.build();
            builder.close();
            return built;
        }

        void close() {
            builder.close();
            if (built != null) {
                built.release();
                built = null;
            }
        }
    }

    RecordAppend(HttpExchange exchange, Targets.Target target) {
        this.exchange = exchange;
        this.target = target;
        this.maxBatchBytes = Math.min(MAX_BATCH_BYTES, target.maxMessageBytes());
    }

    /** Size of the records that were added and not sent. */
    long sizeBytes() {
        return sizeBytes;
    }

    /** Adds a record, whose result has the next place. */
    void add(int partition, long timestampMs, byte[] key, byte[] value, List<Header> headers) {
        int maxBytes = BatchBuilder.maxRecordSizeBytes(
                key == null ? 0 : key.length, value == null ? 0 : value.length, headers);
        ArrayDeque<Batch> batches = waiting.computeIfAbsent(partition, number -> new ArrayDeque<>(1));
        Batch last = batches.peekLast();
        if (last == null || last.builder.sizeBytes() + maxBytes > maxBatchBytes) {
            last = new Batch(
                    partition, new BatchBuilder(exchange.allocator(), CompressionCodec.NONE, FIRST_BATCH_BYTES));
            batches.add(last);
        }
        last.builder.append(timestampMs, key, value, headers);
        last.places.add(results.size());
        results.add(null);
        sizeBytes += maxBytes;
    }

    /**
     * Sends what was added. Nothing may be added before {@code done} is called.
     *
     * @param done receives the results in the order in which the records were added, unless the request has ended
     */
    void send(Consumer<List<Result>> done) {
        sending = true;
        do {
            hasResponse = false;
        } while (sendRound(done) && hasResponse && !closed);
        sending = false;
    }

    /** Sends one batch of each partition. Returns false if there were none, so that everything has its result. */
    private boolean sendRound(Consumer<List<Result>> done) {
        List<Batch> round = new ArrayList<>();
        waiting.values().forEach(batches -> {
            if (!batches.isEmpty()) {
                round.add(batches.remove());
            }
        });
        if (round.isEmpty()) {
            List<Result> all = List.copyOf(results);
            results.clear();
            waiting.clear();
            sizeBytes = 0;
            sending = false;
            done.accept(all);
            return false;
        }
        int requestBytes = 0;
        List<ProduceRequest.PartitionProduceData> partitions = new ArrayList<>();
        for (Batch batch : round) {
            ByteBuf built = batch.build();
            requestBytes += built.readableBytes();
            partitions.add(new ProduceRequest.PartitionProduceData()
                    .setIndex(batch.partition)
                    .setRecords(RecordsData.of(built)));
        }
        ProduceRequest request = new ProduceRequest()
                .setAcks(ACKS_ALL)
                .setTimeoutMs(TIMEOUT_MS)
                .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                        .setName(target.topic())
                        .setPartitionData(partitions)));
        exchange.call(ApiKey.PRODUCE, PRODUCE_VERSION, request, requestBytes, response -> {
            for (int i = 0; i < round.size(); i++) {
                setResults(round.get(i), response, i);
                round.get(i).close();
            }
            hasResponse = true; // perhaps before the call has returned
            if (!closed && !sending) {
                send(done);
            }
        });
        return true;
    }

    /**
     * Gives up what was not sent.
     *
     * @param message what its records have as their result, with {@code error}
     */
    void drop(ErrorCode error, String message) {
        waiting.values()
                .forEach(batches -> batches.forEach(batch -> {
                    batch.places.forEach(place -> results.set(place, new Result(batch.partition, -1, error, message)));
                    batch.close();
                }));
        waiting.clear();
    }

    private void setResults(Batch batch, ApiMessage response, int index) {
        ErrorCode error = ErrorCode.UNKNOWN_SERVER_ERROR;
        String message = null;
        long offset = -1;
        if (response instanceof ProduceResponse produced) {
            ProduceResponse.PartitionProduceResponse result =
                    produced.responses().get(0).partitionResponses().get(index);
            error = ErrorCode.of(result.errorCode());
            message = result.errorMessage();
            offset = result.baseOffset();
        }
        for (int place : batch.places) {
            boolean appended = error == ErrorCode.NONE;
            results.set(place, new Result(batch.partition, appended ? offset++ : -1, error, message));
        }
        if (error == ErrorCode.NONE) {
            exchange.counters().onAppended(batch.places.size());
        }
    }

    /** Drops what was not sent. */
    @Override
    public void close() {
        closed = true;
        waiting.values().forEach(batches -> batches.forEach(Batch::close));
        waiting.clear();
    }
}
