package io.journalq.server.gateway.confluent;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.consume.StartLookup;
import io.journalq.server.gateway.consume.Tail;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One read of a {@link ConsumerInstance}: collects records until there are no more, or until the response is full. If there
 * are none, it waits for some. On the loop of the instance.
 */
final class ConsumerRead {
    /** Size of the keys and values of a response. One record can be larger. */
    static final int MAX_BYTES = 1024 * 1024;

    /** Time after which partitions that were assigned meanwhile are read, too. */
    private static final int MAX_FETCH_WAIT_MS = 500;

    /** Time until the next fetch if one has found nothing and has not waited. */
    private static final int PAUSE_MS = 100;

    private static final JsonFactory JSON = new JsonFactory();

    private final ConsumerInstance instance;
    private final ConsumerCall call;
    private final Tail tail;
    private final boolean binary;
    private final long endNanos;
    private final long waitMs;
    private final long maxBytes;

    /** Where the partitions were before. */
    private final Map<Integer, Long> before;

    private Loop.Timer timeout;
    private ByteBuf out;
    private long heldBytes;
    private int records;
    private long sizeBytes;
    private long fetchedNanos;
    private int fetchWaitMs;
    private boolean foundRecords;

    /** Whether a fetch or a pause is waited for. */
    private boolean busy;

    private boolean timedOut;
    private boolean left;
    private boolean ended;

    /**
     * Prepares a read.
     *
     * @param waitMs how long it waits for the first record
     * @param maxBytes size of the keys and values of a response, unless a single record is larger
     */
    ConsumerRead(ConsumerInstance instance, ConsumerCall call, long waitMs, long maxBytes) {
        this.instance = instance;
        this.call = call;
        this.tail = instance.positions().tail();
        this.binary = instance.settings().format() == RecordDocument.Format.BINARY;
        this.waitMs = waitMs;
        this.endNanos = instance.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
        this.maxBytes = Math.min(maxBytes, MAX_BYTES);
        this.before = new HashMap<>(tail.positions());
    }

    void begin() {
        out = instance.caller().allocator().buffer();
        out.writeByte('[');
        call.whenClientLeaves(this::onClientLeft);
        tail.goOn();
        timeout = instance.caller()
                .schedule(
                        () -> {
                            timedOut = true;
                            advance();
                        },
                        waitMs);
        busy = true;
        write(); // what an earlier read has left
    }

    /** A partition has got a position. */
    void onPosition(int number, long offset) {
        before.put(number, offset);
    }

    private void onClientLeft() {
        left = true;
        if (!busy) {
            end(null);
        }
    }

    private long remainingMs() {
        return TimeUnit.NANOSECONDS.toMillis(endNanos - instance.nanoTime());
    }

    /** Goes on if nothing is waited for. */
    void advance() {
        if (busy || ended) {
            return;
        }
        if (left || call.isEnded()) {
            end(null);
            return;
        }
        Problem problem = records > 0 ? null : instance.readProblem();
        if (problem != null) {
            end(problem);
            return;
        }
        List<Integer> partitions = instance.positions().readable();
        boolean over = records > 0 ? partitions.isEmpty() : timedOut || (partitions.isEmpty() && waitMs == 0);
        if (over && (fetchedNanos != 0 || partitions.isEmpty())) {
            end(null);
        } else if (!partitions.isEmpty()) {
            busy = true;
            fetchedNanos = instance.nanoTime();
            fetchWaitMs = records > 0 ? 0 : (int) Math.max(0, Math.min(remainingMs(), MAX_FETCH_WAIT_MS));
            tail.fetch(partitions, fetchWaitMs, this::write);
        }
    }

    /** Writes what was fetched. */
    private void write() {
        try {
            while (!ended) {
                if (left || call.isEnded()) {
                    end(null);
                    return;
                }
                switch (tail.next()) {
                    case RECORD -> {
                        if (!add(tail.record())) {
                            return;
                        }
                    }
                    case PARTITION -> {
                        if (tail.hasRecords()) {
                            foundRecords = true;
                            instance.positions().endTurn(tail.partition());
                        }
                    }
                    case OUT_OF_RANGE -> instance.onOutOfRange(tail.partition());
                    case FAILED -> {
                        Problem problem = StartLookup.problem(
                                tail.error(), instance.positions().described(tail.partition()));
                        if (problem.type() != ProblemType.UNAVAILABLE) {
                            end(records == 0 ? problem : null);
                            return;
                        }
                        // Another broker leads the partition soon.
                    }
                    case END, FETCH -> {
                        endRound();
                        return;
                    }
                }
            }
        } catch (InvalidBatchException unreadable) {
            Problem problem = tail.problem(unreadable);
            tail.drop();
            end(records == 0 ? problem : null);
        }
    }

    /** Everything that was fetched is written. */
    private void endRound() {
        tail.drop();
        hold(out.capacity());
        boolean found = foundRecords;
        foundRecords = false;
        boolean waited = fetchedNanos == 0
                || instance.nanoTime() - fetchedNanos >= TimeUnit.MILLISECONDS.toNanos(fetchWaitMs / 2);
        if (records > 0 && (!found || instance.caller().memory().isFullOfResponses())) {
            end(null);
        } else if (!found && !waited && remainingMs() > 0) {
            instance.caller().schedule(this::endPause, Math.min(PAUSE_MS, remainingMs()));
        } else {
            instance.caller().later(this::endPause);
        }
    }

    private void endPause() {
        busy = false;
        advance();
    }

    /** Returns whether the read goes on. */
    private boolean add(BatchReader record) {
        int size = Math.max(0, record.keySizeBytes()) + Math.max(0, record.valueSizeBytes());
        if (records > 0 && sizeBytes + size > maxBytes) {
            unread(record.offset());
            end(null);
            return false;
        }
        int start = out.writerIndex();
        TopicPartition partition = instance.positions().name(tail.partition());
        text((records == 0 ? "{\"topic\":\"" : ",{\"topic\":\"") + partition.topic() + "\",\"key\":");
        boolean readable = write(record.key());
        text(",\"value\":");
        readable &= write(record.value());
        text(",\"partition\":" + partition.partition() + ",\"offset\":" + record.offset() + "}");
        if (!readable) {
            out.writerIndex(start);
            long offset = record.offset();
            unread(offset);
            end(records > 0 ? null : notJson(partition, offset));
            return false;
        }
        records++;
        sizeBytes += size;
        if (sizeBytes >= maxBytes) {
            end(null);
            return false;
        }
        return true;
    }

    private static Problem notJson(TopicPartition partition, long offset) {
        return new Problem(
                ProblemType.UNREADABLE_RECORD,
                "the record at offset " + offset + " of partition " + partition + " is not JSON",
                "read it with an instance of the format binary, or POST positions to pass it");
    }

    private void unread(long offset) {
        int number = tail.partition();
        tail.drop();
        tail.seek(number, offset);
    }

    private void text(String ascii) {
        out.writeCharSequence(ascii, StandardCharsets.US_ASCII);
    }

    /** Writes a key or a value. Returns false if it is not JSON, and should be. */
    private boolean write(ByteBuf content) {
        if (content == null) {
            text("null");
            return true;
        }
        byte[] bytes = ByteBufUtil.getBytes(content);
        if (binary) {
            out.writeByte('"').writeBytes(Base64.getEncoder().encode(bytes)).writeByte('"');
            return true;
        }
        out.writeBytes(bytes);
        return isJson(bytes);
    }

    private static boolean isJson(byte[] bytes) {
        try {
            // Jackson would also take other encodings from bytes.
            CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            try (JsonParser parser = JSON.createParser(text.array(), text.arrayOffset(), text.length())) {
                if (parser.nextToken() == null) {
                    return false;
                }
                parser.skipChildren();
                parser.finishToken();
                return parser.nextToken() == null;
            }
        } catch (IOException malformed) {
            return false;
        }
    }

    /** The instance has ended. */
    void close() {
        if (!ended) {
            ended = true;
            timeout.cancel();
            hold(0);
            out.release();
        }
    }

    private void hold(long bytes) {
        instance.caller().memory().takeForResponse(bytes - heldBytes);
        heldBytes = bytes;
    }

    /** @param problem null to respond with what was read */
    private void end(Problem problem) {
        if (ended) {
            return;
        }
        ended = true;
        timeout.cancel();
        hold(0);
        if (left || problem != null || call.isEnded()) {
            out.release();
            instance.positions().onUndelivered(before);
            if (problem == null) {
                call.abandon();
            } else {
                call.fail(problem);
            }
            return;
        }
        tail.keep();
        out.writeByte(']').writeByte('\n');
        call.respond(out, binary ? MediaTypes.BINARY_V2 : MediaTypes.JSON_V2, records, sent -> {
            if (sent) {
                instance.positions().onDelivered();
            } else {
                instance.positions().onUndelivered(before);
            }
        });
    }
}
