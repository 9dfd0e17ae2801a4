package io.journalq.server.gateway.produce;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;

/**
 * A body of record batches of version 2, one behind the other, as a Kafka client would send them. All of them go to one
 * partition. Each is appended when it is complete. The Produce handler checks them, and the broker does not decode or
 * compress them again, unless the topic demands it. On the connection's loop.
 *
 * <p>Source: the Kafka protocol guide, "Record Batch".
 */
final class BatchBody implements RequestBody {
    static final String TYPE = "application/vnd.journalq.batch";

    /** After a batch of {@link ArrivingBatch#FIRST_PART_BYTES}, only this much of the next is read at first: it is probably as large. */
    private static final int BEGINNING_BYTES = 1024;

    private final HttpExchange exchange;
    private final Targets.Target target;
    private final RecordSink sink;
    private final int partition;

    /** Null between batches. */
    private ArrivingBatch batch;

    /** Size of the batch before it. */
    private int lastBatchBytes;

    private int batches;

    /** A body of a request. */
    BatchBody(HttpExchange exchange, Targets.Target target) {
        this(exchange, target, RawBody.number(exchange, RawBody.PARTITION), new RecordSink(exchange, target));
    }

    /** @param chosen the partition that the client has chosen; null for none */
    BatchBody(HttpExchange exchange, Targets.Target target, Long chosen, RecordSink sink) {
        this.exchange = exchange;
        this.target = target;
        this.partition = chosen == null ? target.keyless() : target.checked(chosen);
        this.sink = sink;
    }

    /** The batch that arrives, twice while its buffer grows, and those without a response. */
    @Override
    public long reservedBytes() {
        long maxBytes = RecordSink.MAX_IN_FLIGHT_BYTES + 2L * target.maxMessageBytes();
        long length = exchange.bodyLength();
        return length == HttpExchange.UNKNOWN_LENGTH ? maxBytes : Math.min(2 * length, maxBytes);
    }

    @Override
    public void onData(ByteBuf data) {
        int index = data.readerIndex();
        while (index < data.writerIndex() && !sink.hasEnded()) {
            if (batch == null) {
                batch = new ArrivingBatch(exchange.allocator(), data.writerIndex() - index);
            }
            int wanted = batch.missingBytes();
            int part = Math.min(wanted, data.writerIndex() - index);
            batch.add(data, index, part);
            index += part;
            if (part < wanted) {
                return;
            }
            try {
                if (!batch.hasSize()) {
                    batch.setSizeBytes(sizeBytes(batch.bytes()));
                }
                if (batch.isComplete()) {
                    add();
                }
            } catch (ProblemException refusal) {
                // The batches before it are appended, and the response says so.
                sink.cutShort(refusal.problem());
                return;
            }
        }
    }

    /** The rest of the batch that arrives, if its size is known: the body is neither in chunks nor compressed. */
    @Override
    public ByteBuf readTarget() {
        if (exchange.bodyLength() == HttpExchange.UNKNOWN_LENGTH || sink.hasEnded()) {
            return null;
        }
        if (batch == null) {
            return lastBatchBytes < ArrivingBatch.FIRST_PART_BYTES
                    ? null
                    : exchange.allocator().directBuffer(BEGINNING_BYTES, BEGINNING_BYTES);
        }
        return batch.lendRest();
    }

    /** Checks the head of a batch, and returns the size of the batch. */
    private int sizeBytes(ByteBuf head) {
        if (RecordBatch.magic(head, 0) != RecordBatch.CURRENT_MAGIC) {
            throw invalid("it is not a record batch of version 2 (magic " + RecordBatch.magic(head, 0) + ")");
        }
        long length = head.getInt(RecordBatch.LENGTH);
        if (length < RecordBatch.HEADER_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES) {
            throw invalid("its length field is " + length);
        }
        if (length + RecordBatch.LOG_OVERHEAD_BYTES > target.maxMessageBytes()) {
            throw new Problem(
                            ProblemType.RECORD_TOO_LARGE,
                            where() + "it is larger than the topic allows (max.message.bytes)",
                            "send smaller batches, or raise max.message.bytes")
                    .exception();
        }
        if (RecordBatch.isTransactional(head, 0) || RecordBatch.isControl(head, 0)) {
            throw invalid("it belongs to a transaction");
        }
        if (RecordBatch.recordCount(head, 0) <= 0) {
            throw invalid("it has no records");
        }
        return (int) length + RecordBatch.LOG_OVERHEAD_BYTES;
    }

    private void add() {
        ByteBuf complete = batch.bytes();
        lastBatchBytes = batch.sizeBytes();
        batch = null;
        batches++;
        sink.append(partition, complete);
    }

    @Override
    public void onEnd() {
        sink.finish(
                batch == null
                        ? null
                        : invalid("the body ends in the middle of it").problem());
    }

    @Override
    public boolean onCutShort(Problem problem) {
        sink.cutShort(problem);
        return true;
    }

    private String where() {
        return "batch " + (batches + 1) + ": ";
    }

    private ProblemException invalid(String detail) {
        return new Problem(
                        ProblemType.INVALID_BODY,
                        where() + detail,
                        "send record batches of version 2 without a transaction, one behind the other")
                .exception();
    }

    @Override
    public void onClosed() {
        if (batch != null) {
            batch.bytes().release();
            batch = null;
        }
        sink.close();
    }
}
