package io.journalq.server.gateway.produce;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Collects the records of one request into batches, appends them through the broker's Produce handler, and responds with
 * their offsets. The requests to the handler are sent without waiting for each other; a partition appends their batches in
 * this order. On the connection's loop.
 *
 * <p>With a {@link ProducerToken}, the batches depend on nothing but the records and the token, and each request waits for
 * the one before it: after a failure, nothing may be appended behind what is missing.
 */
final class RecordSink implements JsonRecord.Receiver {
    /** Maximum size of a batch, unless the topic's limit is lower or one record is larger. */
    private static final int MAX_BATCH_BYTES = 1024 * 1024;

    private static final int MAX_RECORDS = 100_000;

    /** Size of batches without a response at which the body pauses. */
    static final int MAX_IN_FLIGHT_BYTES = 256 * 1024;

    /** Batches of a producer whose repetition a partition recognizes. */
    private static final int MAX_PRODUCER_BATCHES = 5;

    private static final int PRODUCE_VERSION = 12;
    private static final short ACKS_ALL = -1;
    private static final int TIMEOUT_MS = 30_000;
    private static final int FIRST_BATCH_BYTES = 512;

    private final HttpExchange exchange;
    private final Targets.Target target;
    private final Owner owner;
    private final int maxBatchBytes;
    private final Map<Integer, Batches> open = new TreeMap<>();
    private final Map<Integer, List<Range>> appended = new TreeMap<>();
    /** Records by partition that were appended, now or by an earlier request. */
    private final Map<Integer, Integer> accepted = new TreeMap<>();

    private int records;
    private long appendedRecords;
    private long bufferedBytes;
    private long inFlightBytes;
    private int inFlight;
    private boolean sending;
    private boolean ended;
    private Problem failure;

    /** The batches of a partition that are not sent. */
    private static final class Batches {
        private final ProducerToken producer;
        private BatchBuilder builder;
        private final ArrayDeque<ByteBuf> full = new ArrayDeque<>(0);
        private int sequence;
        private int built;

        /** Maximum size of the current batch, which is the same for each attempt. */
        private long boundBytes = RecordBatch.HEADER_SIZE_BYTES;

        Batches(int partition, ProducerToken producer, BatchBuilder builder) {
            this.producer = producer;
            this.builder = builder;
            this.sequence = producer == null ? 0 : producer.sequence(partition);
        }

        /** The size of the current batch, by which it is decided whether another record fits. */
        long sizeBytes() {
            return producer == null ? builder.sizeBytes() : boundBytes;
        }

        ByteBuf build() {
            if (producer != null) {
                int count = builder.recordCount();
                builder.setProducerState(producer.id(), producer.epoch(), sequence, false);
                sequence = ProducerToken.next(sequence, count);
                boundBytes = RecordBatch.HEADER_SIZE_BYTES;
                built++;
            }
            return builder.build();
        }

        ByteBuf poll() {
            if (full.isEmpty() && builder.recordCount() > 0) {
                return build();
            }
            return full.poll();
        }

        void close() {
            builder.close();
            full.forEach(ByteBuf::release);
            full.clear();
        }
    }

    /** Offsets that were assigned. */
    private record Range(long first, long last) {}

    /** One batch of a request. */
    private record Sent(int partition, ByteBuf batch, int records) {}

    /** What waits for the results. */
    interface Owner {
        /** Stops or continues the body whose records are added. */
        void setHeld(boolean held);

        /**
         * Everything has its result.
         *
         * @param problem null if everything was appended
         * @param appended writes what was appended: {@code records} and {@code offsets}; null if that is nothing, and
         *     there is a problem
         */
        void onDone(Problem problem, JsonOut.Document appended);
    }

    /** A sink for the body of a request, which gets the response. */
    RecordSink(HttpExchange exchange, Targets.Target target) {
        this(exchange, target, new Owner() {
            @Override
            public void setHeld(boolean held) {
                if (held) {
                    exchange.hold();
                } else {
                    exchange.release();
                }
            }

            @Override
            public void onDone(Problem problem, JsonOut.Document appended) {
                if (problem == null) {
                    exchange.respond(HttpResponseStatus.OK, JsonOut.object(exchange.allocator(), json -> {
                        json.writeStringField("topic", target.topic());
                        appended.write(json);
                    }));
                } else if (appended == null) {
                    exchange.fail(problem);
                } else {
                    exchange.fail(problem, appended);
                }
            }
        });
    }

    RecordSink(HttpExchange exchange, Targets.Target target, Owner owner) {
        this.exchange = exchange;
        this.target = target;
        this.owner = owner;
        this.maxBatchBytes = Math.min(MAX_BATCH_BYTES, target.maxMessageBytes());
    }

    @Override
    public void add(int partition, long timestampMs, byte[] key, ByteBuf value, List<Header> headers) {
        count(1);
        Batches batches = open.computeIfAbsent(
                partition,
                number -> new Batches(
                        number,
                        target.producer(),
                        new BatchBuilder(exchange.allocator(), CompressionCodec.NONE, FIRST_BATCH_BYTES)));
        int maxBytes = BatchBuilder.maxRecordSizeBytes(
                key == null ? 0 : key.length, value == null ? 0 : value.readableBytes(), headers);
        BatchBuilder builder = batches.builder;
        if (builder.recordCount() > 0 && batches.sizeBytes() + maxBytes > maxBatchBytes) {
            batches.full.add(batches.build());
            builder.close();
            // Others of this size probably follow, and do not have to grow step by step.
            builder = new BatchBuilder(exchange.allocator(), CompressionCodec.NONE, maxBatchBytes);
            batches.builder = builder;
        }
        long beforeBytes = builder.sizeBytes();
        builder.append(timestampMs, key == null ? null : Unpooled.wrappedBuffer(key), value, headers);
        batches.boundBytes += maxBytes;
        bufferedBytes += builder.sizeBytes() - beforeBytes;
        if (target.producer() != null) {
            checkProducer(batches);
        }
    }

    /** Refuses what cannot be recognized when it is repeated. */
    private void checkProducer(Batches batches) {
        Set<Integer> all = new HashSet<>(target.producer().sequences().keySet());
        all.addAll(open.keySet());
        if (all.size() > ProducerToken.MAX_PARTITIONS) {
            throw HttpExchange.invalid(
                    "a producer appends to " + ProducerToken.MAX_PARTITIONS + " partitions at most",
                    "use several producers, each for some of the partitions");
        }
        if (batches.built == MAX_PRODUCER_BATCHES) {
            throw new Problem(
                            ProblemType.BODY_TOO_LARGE,
                            "the records of a partition fill more than " + MAX_PRODUCER_BATCHES + " batches of "
                                    + maxBatchBytes + " bytes, which cannot be repeated exactly",
                            "send several requests, or leave out " + ProducerToken.HEADER)
                    .exception();
        }
    }

    private void count(int more) {
        if (more > MAX_RECORDS - records) {
            throw new Problem(
                            ProblemType.BODY_TOO_LARGE,
                            "the body has more than " + MAX_RECORDS + " records",
                            "send several requests")
                    .exception();
        }
        records += more;
    }

    /**
     * Appends a batch as it is.
     *
     * @param batch its head was checked; the sink takes ownership of it
     */
    void append(int partition, ByteBuf batch) {
        if (ended) {
            batch.release();
            return;
        }
        try {
            count(RecordBatch.recordCount(batch, 0));
        } catch (ProblemException tooMany) {
            batch.release();
            throw tooMany;
        }
        send(List.of(new Sent(partition, batch, RecordBatch.recordCount(batch, 0))));
    }

    long bufferedBytes() {
        return bufferedBytes;
    }

    /** Whether everything that was sent has its response. */
    boolean isIdle() {
        return inFlight == 0;
    }

    /** Appends what was added while the body arrives. */
    void sendAdded() {
        send();
        if (ended) {
            respondIfDone(); // The broker has refused a batch before this returned.
        }
    }

    /** Appends what was added. For a producer, continues until it has to wait for a response. */
    private void send() {
        bufferedBytes = 0;
        sending = true;
        while (target.producer() == null || (inFlight == 0 && failure == null)) {
            List<Sent> round = new ArrayList<>();
            open.forEach((partition, batches) -> {
                ByteBuf batch = batches.poll();
                if (batch != null) {
                    round.add(new Sent(partition, batch, RecordBatch.recordCount(batch, 0)));
                }
            });
            if (round.isEmpty()) {
                break;
            }
            send(round); // may have its response when it returns
        }
        sending = false;
    }

    private void send(List<Sent> round) {
        List<ProduceRequest.PartitionProduceData> partitions = new ArrayList<>(round.size());
        int sizeBytes = 0;
        for (Sent sent : round) {
            sizeBytes += sent.batch().readableBytes();
            partitions.add(new ProduceRequest.PartitionProduceData()
                    .setIndex(sent.partition())
                    .setRecords(RecordsData.of(sent.batch())));
        }
        ProduceRequest request = new ProduceRequest()
                .setAcks(ACKS_ALL)
                .setTimeoutMs(TIMEOUT_MS)
                .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                        .setName(target.topic())
                        .setPartitionData(partitions)));
        int requestBytes = sizeBytes;
        inFlight++;
        inFlightBytes += requestBytes;
        if (inFlightBytes > MAX_IN_FLIGHT_BYTES && !ended) {
            owner.setHeld(true);
        }
        exchange.call(
                ApiKey.PRODUCE,
                PRODUCE_VERSION,
                request,
                requestBytes,
                response -> onResponse(response, round, requestBytes));
    }

    private void onResponse(ApiMessage response, List<Sent> round, int requestBytes) {
        if (response instanceof ProduceResponse produced) {
            List<ProduceResponse.PartitionProduceResponse> results =
                    produced.responses().get(0).partitionResponses();
            for (int i = 0; i < round.size(); i++) {
                onResult(round.get(i), results.get(i));
            }
        } else {
            failure = new Problem(ProblemType.INTERNAL_ERROR, "the broker gave no response", "see the broker's log");
        }
        round.forEach(sent -> sent.batch().release());
        inFlight--;
        inFlightBytes -= requestBytes;
        if (exchange.isClosed()) {
            return;
        }
        if (failure != null && !ended) {
            // What follows in the body must not be appended behind what is missing.
            owner.setHeld(true);
            close();
            ended = true;
        }
        if (ended) {
            if (target.producer() != null && !sending) {
                send();
            }
            respondIfDone();
        } else if (inFlightBytes <= MAX_IN_FLIGHT_BYTES) {
            owner.setHeld(false);
        }
    }

    private void onResult(Sent sent, ProduceResponse.PartitionProduceResponse result) {
        ErrorCode error = ErrorCode.of(result.errorCode());
        if (error == ErrorCode.DUPLICATE_SEQUENCE_NUMBER) {
            accept(sent); // by an earlier request; their offsets are not known any more
            return;
        }
        if (error != ErrorCode.NONE) {
            String reason = result.errorMessage() == null ? "" : ": " + result.errorMessage();
            failure = problem(error, "partition " + sent.partition() + ": " + error.words() + reason);
            return;
        }
        accept(sent);
        exchange.counters().onAppended(sent.records());
        List<Range> ranges = appended.computeIfAbsent(sent.partition(), partition -> new ArrayList<>(1));
        long first = result.baseOffset();
        long last = first + sent.records() - 1;
        int previous = ranges.size() - 1;
        if (previous >= 0 && ranges.get(previous).last() + 1 == first) {
            ranges.set(previous, new Range(ranges.get(previous).first(), last));
        } else {
            ranges.add(new Range(first, last));
        }
    }

    private void accept(Sent sent) {
        appendedRecords += sent.records();
        accepted.merge(sent.partition(), sent.records(), Integer::sum);
    }

    private Problem problem(ErrorCode error, String detail) {
        return switch (error) {
            case TOPIC_AUTHORIZATION_FAILED -> Problem.denied(detail);
            case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID ->
                new Problem(ProblemType.UNKNOWN_TOPIC, detail, "create the topic, or try again if it was just created");
            case MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE ->
                new Problem(ProblemType.RECORD_TOO_LARGE, detail, "send smaller records, or raise max.message.bytes");
            case UNSUPPORTED_COMPRESSION_TYPE ->
                new Problem(
                        ProblemType.RECORDS_REFUSED,
                        detail,
                        "compress batches with gzip, snappy, lz4 or zstd, or not at all");
            case INVALID_RECORD, INVALID_TIMESTAMP, CORRUPT_MESSAGE, INVALID_TOPIC_EXCEPTION ->
                new Problem(ProblemType.RECORDS_REFUSED, detail, "send records that the settings of the topic allow");
            case OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, UNKNOWN_PRODUCER_ID, INVALID_TXN_STATE ->
                new Problem(
                        ProblemType.RECORDS_REFUSED,
                        detail,
                        target.producer() == null
                                ? "send the batches of a producer in their order"
                                : "send the \"producer\" of the last response, with one request at a time");
            case REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND ->
                new Problem(
                        ProblemType.TIMED_OUT,
                        detail,
                        target.producer() == null
                                ? "the records may have been appended; read the topic to find out"
                                : "send the same request again; it appends nothing twice");
            case KAFKA_STORAGE_ERROR, NOT_LEADER_OR_FOLLOWER ->
                // Also for records that were appended, and that other replicas may have.
                new Problem(
                        ProblemType.UNAVAILABLE,
                        detail,
                        (target.producer() == null
                                        ? "the records may have been appended; read the topic to find out, or try again"
                                        : "send the same request again; it appends nothing twice")
                                + "; see the broker's log if this continues");
            case LEADER_NOT_AVAILABLE, NOT_ENOUGH_REPLICAS ->
                new Problem(ProblemType.UNAVAILABLE, detail, "try again; see the broker's log if this continues");
            default -> new Problem(ProblemType.INTERNAL_ERROR, detail, "see the broker's log");
        };
    }

    /**
     * Appends what was added, and responds when everything has its result.
     *
     * @param problem ends the request; null if the body was valid
     */
    void finish(Problem problem) {
        if (ended) {
            return; // because of a failure, which the response names
        }
        ended = true;
        send();
        if (problem != null) {
            failure = problem;
        }
        respondIfDone();
    }

    /** Appends what was added, if the client still may, and responds with a problem of the rest of the body. */
    void cutShort(Problem problem) {
        owner.setHeld(true);
        if (exchange.hasExpired()) {
            close();
        }
        finish(problem);
    }

    /** Whether it takes no more records, because of {@link #finish} or because of a failure. */
    boolean hasEnded() {
        return ended;
    }

    private void respondIfDone() {
        if (!sending && inFlight == 0 && !exchange.isClosed()) {
            owner.onDone(failure, failure != null && accepted.isEmpty() ? null : this::writeAppended);
        }
    }

    private void writeAppended(JsonGenerator json) throws IOException {
        json.writeNumberField("records", appendedRecords);
        json.writeArrayFieldStart("offsets");
        for (Map.Entry<Integer, List<Range>> partition : appended.entrySet()) {
            for (Range range : partition.getValue()) {
                json.writeStartObject();
                json.writeNumberField("partition", partition.getKey());
                json.writeNumberField("first", range.first());
                json.writeNumberField("last", range.last());
                json.writeEndObject();
            }
        }
        json.writeEndArray();
        if (target.producer() != null) {
            json.writeStringField("producer", nextProducer().toString());
        }
    }

    /** Where the producer continues behind what was appended. */
    private ProducerToken nextProducer() {
        ProducerToken before = target.producer();
        Map<Integer, Integer> sequences = new TreeMap<>(before.sequences());
        accepted.forEach(
                (partition, count) -> sequences.put(partition, ProducerToken.next(before.sequence(partition), count)));
        return new ProducerToken(before.id(), before.epoch(), target.partitions(), sequences);
    }

    /** Drops what was not sent. */
    void close() {
        open.values().forEach(Batches::close);
        open.clear();
    }
}
