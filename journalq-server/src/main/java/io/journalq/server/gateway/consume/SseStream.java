package io.journalq.server.gateway.consume;

import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The records of a topic as server-sent events, until the client leaves. The id of each event is the position of the
 * reader behind it, in all partitions. A client that reconnects with the id of the last event that it has received
 * therefore continues without loss and without duplicates, and the broker keeps nothing for it.
 *
 * <p>It reads the log only while the client reads the events. If retention overtakes the client, it gets an event
 * {@code gap}. Streams that wait for the same records share them: see {@link EventGroup}. On the connection's loop.
 *
 * <p>Source: the HTML standard, "Server-sent events".
 */
final class SseStream implements RequestBody {
    static final String TYPE = "text/event-stream";

    /** Time without records after which the client gets an empty event, so that it and proxies keep the connection. */
    static final int HEARTBEAT_MS = 15_000;

    /** Time until the next fetch if one has found nothing and has not waited. */
    private static final int PAUSE_MS = 100;

    private static final int RECONNECT_MS = 1_000;

    private final HttpExchange exchange;
    private final Start start;
    private final Supplier<MetadataImage> images;
    private final EventGroups groups;
    private final StartLookup lookup;
    private final Tail tail;
    private final EventText text;

    /** The partitions in the order of their next turns. */
    private final List<Integer> turns = new ArrayList<>();

    /** Partitions of the last fetch that had records. */
    private final List<Integer> read = new ArrayList<>();

    private long fetchedNanos;
    private int events;

    private boolean begun;

    /** Where this stream waits; null if nobody else can wait there. */
    private EventGroups.Place place;

    /** The group with which this stream waits, or has waited last; null if it waits alone. */
    private EventGroup group;

    /** @param groups those of the loop of the connection */
    SseStream(HttpExchange exchange, Start start, Supplier<MetadataImage> images, EventGroups groups) {
        this.exchange = exchange;
        this.start = start;
        this.images = images;
        this.groups = groups;
        this.lookup = new StartLookup(exchange, start.topic(), HEARTBEAT_MS, this::end);
        this.tail = new Tail(exchange, start.topic(), Tail.FETCH_BYTES);
        this.text = new EventText(exchange.allocator());
    }

    @Override
    public void onData(ByteBuf data) {
        throw HttpExchange.invalid("a GET request has no body", "send the parameters behind the path");
    }

    @Override
    public void onEnd() {
        lookup.begin(start, this::begin);
    }

    private void begin(StartLookup.Positions found) {
        if (start.exact()) {
            // An offset that retention has removed is an error of the client here, and a gap later.
            int partition = found.offsets().keySet().iterator().next();
            lookup.findStart(partition, first -> {
                long wanted = found.offsets().get(partition);
                if (wanted < first) {
                    end(StartLookup.outOfRange(partition, wanted, found.ends().get(partition)));
                } else {
                    beginStream(found);
                }
            });
        } else {
            beginStream(found);
        }
    }

    private void beginStream(StartLookup.Positions found) {
        tail.begin(found.offsets());
        turns.addAll(found.offsets().keySet());
        begun = true;
        exchange.counters().onStreamBegun();
        exchange.holdLess();
        text.setPartBytes(exchange);
        exchange.beginStream(TYPE);
        text.addRetry(RECONNECT_MS);
        text.addId(tail.positions());
        send();
        fetch();
    }

    private void fetch() {
        if (exchange.isClosed() || !addNewPartitions()) {
            return;
        }
        if (!exchange.canShare()) {
            leave();
            fetchAlone();
            return;
        }
        if (group != null && group.isAt(place) && place.turns().size() == turns.size()) {
            group.add(this);
            return;
        }
        leave();
        place = EventGroups.Place.of(exchange, start.topic(), tail.positions(), turns);
        group = groups.join(this, place);
        if (group == null) {
            fetchAlone();
        }
    }

    HttpExchange exchange() {
        return exchange;
    }

    /** Fetches for this stream only. */
    private void fetchAlone() {
        fetchedNanos = nanoTime();
        events = 0;
        read.clear();
        tail.fetch(turns, HEARTBEAT_MS, this::onFetched);
    }

    /** The fetch of the group has brought something that this stream has to fetch by itself. */
    void onUnshared() {
        exchange.guard(() -> {
            leave();
            if (!exchange.isClosed()) {
                fetchAlone();
            }
        });
    }

    /**
     * The fetch of the group has brought events.
     *
     * @param behind the place behind them
     */
    void onRound(EventGroup.Round round, EventGroups.Place behind) {
        exchange.guard(() -> {
            if (!exchange.isClosed()) {
                take(round, behind);
            }
        });
    }

    private void take(EventGroup.Round round, EventGroups.Place behind) {
        place = behind;
        tail.begin(round.positions());
        turns.clear();
        turns.addAll(behind.turns());
        read.clear();
        fetchedNanos = round.fetchedNanos();
        events = round.count();
        if (round.events() != null) {
            text.continueAt(round.lastId());
            send(round.events().retainedDuplicate());
        }
        endRound(round.foundRecords());
    }

    private void onFetched() {
        leave();
        write();
    }

    /** Does not wait any more, neither alone nor with others. */
    private void leave() {
        if (group != null) {
            group.remove(this);
            group = null;
        }
        if (place != null) {
            groups.leave(this, place);
            place = null;
        }
    }

    /** Returns whether the stream goes on. */
    private boolean addNewPartitions() {
        TopicImage topic = images.get().topic(start.topic());
        if (topic == null || !start.allPartitions()) {
            return true; // the fetch fails if the topic was deleted
        }
        int count = topic.partitions().size();
        if (count > Start.MAX_PARTITIONS) {
            end(new Problem(
                    ProblemType.INVALID_PARAMETER,
                    "the topic has more than " + Start.MAX_PARTITIONS + " partitions now",
                    "read them one by one with partition="));
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

    /** Writes records while the client reads them and the turn lasts. */
    private void write() {
        int turnBytes = 0;
        try {
            while (!exchange.isClosed()) {
                switch (tail.next()) {
                    case RECORD -> {
                        events++;
                        text.addRecord(tail.partition(), tail.record());
                    }
                    case PARTITION -> onPartition();
                    case OUT_OF_RANGE -> {
                        lookup.findStart(tail.partition(), this::onStart);
                        return;
                    }
                    case FAILED -> {
                        end(StartLookup.problem(tail.error(), tail.partition()));
                        return;
                    }
                    case END, FETCH -> {
                        endRound();
                        return;
                    }
                }
                if (text.isFull()) {
                    turnBytes += text.sizeBytes();
                    send();
                    if (!exchange.isWritable()) {
                        tail.awaitClient(exchange, this::write);
                        return;
                    }
                    if (turnBytes >= RecordLines.TURN_BYTES) {
                        exchange.later(this::write);
                        return;
                    }
                }
            }
        } catch (InvalidBatchException unreadable) {
            end(tail.problem(unreadable));
        }
    }

    private void onPartition() {
        if (tail.hasRecords()) {
            read.add(tail.partition());
            text.beginPartition(tail.partition(), tail.positions());
        }
    }

    /** Everything that was fetched is written. */
    private void endRound() {
        tail.drop();
        turns.removeAll(read);
        turns.addAll(read);
        endRound(!read.isEmpty());
    }

    private void endRound(boolean foundRecords) {
        exchange.counters().onRead(events);
        boolean waited = nanoTime() - fetchedNanos >= TimeUnit.MILLISECONDS.toNanos(HEARTBEAT_MS / 2);
        if (events == 0 && waited) {
            if (text.lastId().equals(Cursor.format(tail.positions()))) {
                text.addHeartbeat();
            } else {
                text.addId(tail.positions()); // behind transaction markers
            }
        }
        send();
        if (!exchange.isWritable()) {
            exchange.whenWritable(this::fetch);
        } else if (!foundRecords && !waited) {
            exchange.schedule(this::fetch, PAUSE_MS);
        } else {
            exchange.later(this::fetch);
        }
    }

    /** Retention has removed the records at the position. */
    private void onStart(long first) {
        int partition = tail.partition();
        long position = tail.positions().get(partition);
        if (first <= position) {
            end(StartLookup.problem(tail.error(), partition));
            return;
        }
        tail.seek(partition, first);
        text.addEvent("gap", tail.positions(), json -> {
            json.writeNumberField("partition", partition);
            json.writeNumberField("from", position);
            json.writeNumberField("to", first);
        });
        read.add(partition);
        write();
    }

    private void send() {
        ByteBuf part = text.take();
        if (part != null) {
            send(part);
        }
    }

    private void send(ByteBuf part) {
        exchange.charge(part.readableBytes());
        exchange.stream(part);
    }

    private void end(Problem problem) {
        tail.drop();
        if (!begun) {
            exchange.fail(problem);
            return;
        }
        text.addEvent("problem", tail.positions(), problem::writeMembers);
        send();
        exchange.endStream();
    }

    /** Ends the stream. The client reconnects, and continues where it was. */
    @Override
    public void onDrain() {
        if (!begun) {
            // Its position is still looked up. After an error, the client would not reconnect.
            exchange.beginStream(TYPE);
            text.addRetry(RECONNECT_MS);
        }
        send();
        exchange.endStream();
    }

    private long nanoTime() {
        return exchange.cycle().loop().nanoTime();
    }

    @Override
    public void onExpired(Problem problem) {
        end(problem);
    }

    @Override
    public void onClosed() {
        if (begun) {
            exchange.counters().onStreamEnded();
        }
        leave();
        tail.close();
        text.close();
    }
}
