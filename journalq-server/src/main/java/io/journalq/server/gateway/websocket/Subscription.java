package io.journalq.server.gateway.websocket;

import io.journalq.common.protocol.RecordsData;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.consume.Cursor;
import io.journalq.server.gateway.consume.RecordJson;
import io.journalq.server.gateway.consume.Start;
import io.journalq.server.gateway.consume.StartLookup;
import io.journalq.server.gateway.consume.Tail;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.TopicImage;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The records of one topic for one WebSocket, from a position on. It fetches while the client has given credit, the client
 * reads, and the subscription is not paused. On the connection's loop.
 */
final class Subscription {
    static final int WAIT_MS = 10_000;

    /** Time until the next fetch if one has found nothing and has not waited. */
    private static final int PAUSE_MS = 100;

    /** Usual limits of a message of JSON. One record can be larger. A client that stops reading holds one message. */
    private static final int MAX_MESSAGE_BYTES = 28 * 1024;

    /** The last record of a message usually fits into its buffer, which is larger by this part. */
    private static final int SPARE_PART = 7;

    private static final int MAX_MESSAGE_RECORDS = 1_000;

    private static final int BATCH_FETCH_BYTES = 512 * 1024;
    private static final int MAX_BATCH_MESSAGE_BYTES = 256 * 1024;

    /** Size of messages after which other connections have their turns. */
    private static final int TURN_BYTES = 512 * 1024;

    private static final int FIRST_MESSAGE_BYTES = 1024;

    private final Subscriptions owner;
    private final HttpExchange exchange;
    private final Start start;
    private final StartLookup lookup;
    private final Tail tail;
    private final byte[] prefix;
    private final int fullBytes;

    /** The partitions in the order of their next turns. */
    private final List<Integer> turns = new ArrayList<>();

    /** Partitions of the last fetch that had records. */
    private final List<Integer> read = new ArrayList<>();

    /** The id of the message that has begun this. */
    private JsonOut.Document id = json -> {};

    /** The message that is written; null if none. */
    private ByteBuf message;

    private int messageRecords;
    private int nextMessageBytes = FIRST_MESSAGE_BYTES;
    private long fetchedNanos;
    private boolean fetched;

    /** Whether a lookup, a fetch or the client is waited for. */
    private boolean busy = true;

    private boolean paused;
    private boolean closed;

    Subscription(Subscriptions owner, Start start, boolean paused) {
        this.owner = owner;
        this.exchange = owner.exchange();
        this.start = start;
        this.paused = paused;
        this.lookup = new StartLookup(exchange, start.topic(), WAIT_MS, this::fail);
        this.tail = new Tail(exchange, start.topic(), owner.sendsBatches() ? BATCH_FETCH_BYTES : Tail.FETCH_BYTES);
        this.fullBytes = exchange.partBytes(MAX_MESSAGE_BYTES);
        this.prefix = ("{\"type\":\"records\",\"topic\":\"" + start.topic() + "\",\"records\":[")
                .getBytes(StandardCharsets.US_ASCII);
    }

    String topic() {
        return start.topic();
    }

    boolean isPaused() {
        return paused;
    }

    /**
     * Finds the position and informs the client.
     *
     * @param response type of the message that tells the client the position
     * @param itsId the id of the message that has caused this
     */
    void begin(String response, JsonOut.Document itsId) {
        id = itsId;
        lookup.begin(start, found -> {
            if (closed) {
                return;
            }
            if (!start.exact()) {
                begin(response, found.offsets(), start.cursor(found.offsets()));
                return;
            }
            // An offset that retention has removed is an error of the client here, and a gap later.
            int partition = found.offsets().keySet().iterator().next();
            lookup.findStart(partition, first -> {
                long wanted = found.offsets().get(partition);
                if (wanted < first) {
                    fail(StartLookup.outOfRange(partition, wanted, found.ends().get(partition)));
                } else if (!closed) {
                    begin(response, found.offsets(), start.cursor(found.offsets()));
                }
            });
        });
    }

    /**
     * Begins at the offsets of the start, which are all known. They are those of partitions that a group has assigned,
     * so that their cursor says nothing of others.
     *
     * @param message type of the message that tells the client the position; null for none
     * @param itsId the id of the message that has caused this
     */
    void resume(String message, JsonOut.Document itsId) {
        id = itsId;
        begin(message, start.offsets(), Cursor.format(start.offsets()));
    }

    /** The next offset of each partition, as far as it is known. */
    Map<Integer, Long> positions() {
        return tail.positions();
    }

    private void begin(String response, Map<Integer, Long> offsets, String cursor) {
        tail.begin(offsets);
        turns.addAll(offsets.keySet());
        if (response != null) {
            owner.out().send(response, json -> {
                id.write(json);
                json.writeStringField("topic", topic());
                json.writeStringField("cursor", cursor);
            });
        }
        id = json -> {};
        busy = false;
        go();
    }

    private void fail(Problem problem) {
        if (!closed) {
            owner.fail(this, id, problem);
        }
    }

    void setPaused(boolean isPaused) {
        paused = isPaused;
        go();
    }

    private boolean mayRead() {
        return !paused && owner.credit() > 0;
    }

    /** Goes on if nothing is waited for: the client has given credit, or what was waited for is there. */
    void go() {
        if (busy || closed) {
            return;
        }
        if (mayRead()) {
            tail.goOn();
            write();
        } else {
            tail.keep();
        }
    }

    private void endWait() {
        busy = false;
        go();
    }

    /** Writes records while the client takes them and the turn lasts. */
    private void write() {
        int turnBytes = 0;
        try {
            while (!closed) {
                if (!mayRead()) {
                    send();
                    tail.keep();
                    return;
                }
                boolean ready = false;
                switch (owner.sendsBatches()
                        ? tail.nextBatches(MAX_BATCH_MESSAGE_BYTES, owner.credit())
                        : tail.next()) {
                    case RECORD -> {
                        turnBytes += owner.sendsBatches() ? sendBatches() : add();
                        ready = message == null
                                || message.readableBytes() >= fullBytes
                                || messageRecords == MAX_MESSAGE_RECORDS;
                    }
                    case PARTITION -> {
                        if (tail.hasRecords()) {
                            read.add(tail.partition());
                        }
                    }
                    case OUT_OF_RANGE -> {
                        send();
                        busy = true;
                        lookup.findStart(tail.partition(), this::onStart);
                        return;
                    }
                    case FAILED -> {
                        send();
                        fail(StartLookup.problem(tail.error(), tail.partition()));
                        return;
                    }
                    case END, FETCH -> {
                        endRound();
                        return;
                    }
                }
                if (ready && !continues(turnBytes)) {
                    return;
                }
            }
        } catch (InvalidBatchException unreadable) {
            send();
            fail(tail.problem(unreadable));
        }
    }

    /** Sends what is complete. Returns whether more can be written now. */
    private boolean continues(int turnBytes) {
        send();
        if (!exchange.isWritable()) {
            busy = true;
            tail.awaitClient(exchange, this::endWait);
            return false;
        }
        if (turnBytes >= TURN_BYTES) {
            busy = true;
            exchange.later(this::endWait);
            return false;
        }
        return true;
    }

    /** Returns the size of the record. */
    private int add() {
        if (message == null) {
            message = WebSocketFrames.begin(exchange.allocator().directBuffer(nextMessageBytes));
            message.writeBytes(prefix);
        } else {
            message.writeByte(',');
        }
        int before = message.writerIndex();
        RecordJson.write(message, tail.partition(), tail.record());
        messageRecords++;
        owner.useCredit(1);
        return message.writerIndex() - before;
    }

    private void send() {
        if (message == null) {
            return;
        }
        ByteBuf complete = message;
        message = null;
        complete.writeByte(']').writeByte('}');
        nextMessageBytes = Math.min(fullBytes + fullBytes / SPARE_PART, 2 * complete.readableBytes());
        exchange.counters().onRead(messageRecords);
        exchange.charge(complete.readableBytes());
        messageRecords = 0;
        exchange.sendBytes(WebSocketFrames.end(complete, WebSocketFrames.TEXT, 0));
    }

    /** Sends batches as they are in the log, behind a line that describes them. Returns their size. */
    private int sendBatches() {
        RecordsData batches = tail.takeBatches();
        ByteBuf head = WebSocketFrames.begin(exchange.allocator().directBuffer(FIRST_MESSAGE_BYTES));
        JsonOut.write(head, json -> {
            json.writeStringField("type", "records");
            json.writeStringField("topic", topic());
            json.writeNumberField("partition", tail.partition());
        });
        head.writeByte('\n');
        int sizeBytes = batches.sizeBytes();
        exchange.sendBytes(WebSocketFrames.end(head, WebSocketFrames.BINARY, sizeBytes));
        exchange.sendRecords(batches);
        exchange.counters().onRead(tail.batchRecords());
        exchange.charge(sizeBytes);
        owner.useCredit(tail.batchRecords());
        return sizeBytes;
    }

    /** Everything that was fetched is written. */
    private void endRound() {
        tail.drop();
        send();
        boolean foundNothing = fetched && read.isEmpty();
        boolean waited = nanoTime() - fetchedNanos >= TimeUnit.MILLISECONDS.toNanos(WAIT_MS / 2);
        turns.removeAll(read);
        turns.addAll(read);
        read.clear();
        fetched = false;
        busy = true;
        if (!exchange.isWritable()) {
            exchange.whenWritable(this::fetch);
        } else if (foundNothing && !waited) {
            exchange.schedule(this::fetch, PAUSE_MS);
        } else {
            fetch();
        }
    }

    private void fetch() {
        if (closed || exchange.isClosed()) {
            return;
        }
        busy = false;
        if (!mayRead() || !addNewPartitions()) {
            return;
        }
        busy = true;
        fetchedNanos = nanoTime();
        tail.fetch(turns, WAIT_MS, () -> {
            fetched = true;
            endWait();
        });
    }

    /** Returns whether the subscription goes on. */
    private boolean addNewPartitions() {
        TopicImage topic = owner.images().get().topic(topic());
        if (topic == null || !start.allPartitions()) {
            return true; // the fetch fails if the topic was deleted
        }
        int count = topic.partitions().size();
        if (count > Start.MAX_PARTITIONS) {
            fail(new Problem(
                    ProblemType.INVALID_PARAMETER,
                    "the topic has more than " + Start.MAX_PARTITIONS + " partitions now",
                    "read them one by one with partition"));
            return false;
        }
        for (int partition = 0; partition < count; partition++) {
            if (!tail.positions().containsKey(partition)) {
                tail.seek(partition, 0);
                turns.add(partition);
            }
        }
        return true;
    }

    /** Retention has removed the records at the position. */
    private void onStart(long first) {
        if (closed) {
            return;
        }
        int partition = tail.partition();
        long position = tail.positions().get(partition);
        if (first <= position) {
            fail(StartLookup.problem(tail.error(), partition));
            return;
        }
        tail.seek(partition, first);
        owner.out().send("gap", json -> {
            json.writeStringField("topic", topic());
            json.writeNumberField("partition", partition);
            json.writeNumberField("from", position);
            json.writeNumberField("to", first);
        });
        read.add(partition);
        endWait();
    }

    private long nanoTime() {
        return exchange.cycle().loop().nanoTime();
    }

    /**
     * Ends the subscription.
     *
     * @param idle is called when no fetch is in flight any more; not called if none is
     * @return whether a fetch is in flight
     */
    boolean close(Runnable idle) {
        closed = true;
        lookup.close();
        if (message != null) {
            message.release();
            message = null;
        }
        return tail.close(idle);
    }
}
