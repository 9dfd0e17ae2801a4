package io.journalq.client.fake;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One partition in memory, with a broker's rules for producer ids: a window of five batches, KIP-98 and KIP-360. */
final class FakePartition {
    private static final int REMEMBERED_BATCHES = 5;

    /** What one appended batch holds, in a heap buffer. */
    record Appended(long baseOffset, ByteBuf batch) {}

    /** The response to a Produce of one batch. */
    record Response(ErrorCode error, long baseOffset) {}

    private record Remembered(int firstSequence, int lastSequence, long baseOffset) {}

    private static final class ProducerState {
        private short epoch;
        private int lastSequence;
        private final ArrayDeque<Remembered> batches = new ArrayDeque<>();
    }

    private final Map<Long, ProducerState> producers = new HashMap<>();
    final List<Appended> log = new ArrayList<>();
    final List<FetchResponse.AbortedTransaction> aborted = new ArrayList<>();
    long endOffset;
    int leader;
    int leaderEpoch;
    /** What a lookup of an offset responds. */
    ErrorCode lookupError = ErrorCode.NONE;
    /** Whether batches before the position of the consumer are served, too. */
    boolean servesAll;
    /** Whether the next response with batches ends with the first batch of the log. */
    boolean repeatsFirst;
    /** Whether the next lookup by time finds nothing, and a record is appended right after it. */
    boolean appendsAfterLookup;
    /** What lookups by time find; -1 for the end. */
    long timedOffset = -1;

    /** Where epochs end whose records were lost in part. */
    final Map<Integer, Long> lostEnds = new HashMap<>();
    /** The broker that the leader prefers for consumers in {@link #followerRack}; -1 for none. */
    int follower = -1;

    String followerRack = "";
    ErrorCode followerError = ErrorCode.NONE;
    int readFromFollower;

    FakePartition(int leader) {
        this.leader = leader;
    }

    /** Looks up the offset of a time, of the beginning (-2) or of the end (-1). */
    long offsetOf(long timestampMs) {
        if (timestampMs >= 0 && appendsAfterLookup) {
            appendsAfterLookup = false;
            timedOffset = endOffset++;
            return -1;
        }
        if (timestampMs >= 0 && timedOffset >= 0) {
            return timedOffset;
        }
        return timestampMs == -2 ? 0 : endOffset;
    }

    /** Forgets what it knows of producers, as a broker does that lost its state. */
    void forgetProducers() {
        producers.clear();
    }

    /** Forgets batches and expects a number that no producer will use soon. */
    void expectOtherNumbers() {
        producers.values().forEach(state -> {
            state.batches.clear();
            state.lastSequence += 1_000_000;
        });
    }

    Response append(ByteBuf bytes) {
        int count = RecordBatch.recordCount(bytes, bytes.readerIndex());
        long producerId = RecordBatch.producerId(bytes, bytes.readerIndex());
        if (producerId != RecordBatch.NO_PRODUCER_ID) {
            Response known = check(producerId, bytes, count);
            if (known != null) {
                return known;
            }
        }
        return new Response(ErrorCode.NONE, store(bytes));
    }

    /** Appends a batch unchecked; returns its offset. */
    long store(ByteBuf bytes) {
        ByteBuf copy = Unpooled.copiedBuffer(bytes);
        RecordBatch.setBaseOffset(copy, 0, endOffset);
        RecordBatch.setLeaderEpoch(copy, 0, leaderEpoch);
        Appended appended = new Appended(endOffset, copy);
        log.add(appended);
        endOffset += RecordBatch.recordCount(copy, 0);
        return appended.baseOffset();
    }

    private Response check(long producerId, ByteBuf bytes, int count) {
        int at = bytes.readerIndex();
        short epoch = RecordBatch.producerEpoch(bytes, at);
        int first = RecordBatch.baseSequence(bytes, at);
        int last = first + count - 1 & Integer.MAX_VALUE;
        ProducerState state = producers.get(producerId);
        if (state != null && epoch < state.epoch) {
            return new Response(ErrorCode.INVALID_PRODUCER_EPOCH, -1);
        }
        if (state != null && epoch == state.epoch) {
            for (Remembered batch : state.batches) {
                if (batch.firstSequence == first && batch.lastSequence == last) {
                    return new Response(ErrorCode.NONE, batch.baseOffset);
                }
            }
            if (first != (state.lastSequence + 1 & Integer.MAX_VALUE)) {
                return new Response(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
            }
        } else if (state != null && first != 0) {
            return new Response(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
        }
        if (state == null || epoch > state.epoch) {
            state = new ProducerState();
            producers.put(producerId, state);
        }
        state.epoch = epoch;
        state.lastSequence = last;
        state.batches.addLast(new Remembered(first, last, endOffset));
        if (state.batches.size() > REMEMBERED_BATCHES) {
            state.batches.removeFirst();
        }
        return null;
    }
}
