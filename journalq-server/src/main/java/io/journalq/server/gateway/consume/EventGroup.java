package io.journalq.server.gateway.consume;

import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.LastingCaller;
import io.journalq.server.loop.Loop;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Streams of events that wait for the same records of a topic. One fetch serves all of them, and its records are encoded
 * once: each stream sends the same bytes. They are passed on in rounds of one part of a response. A stream that is not back
 * when the next round begins, because its client does not read, goes on by itself from where it is. So do all streams if a
 * fetch brings anything else than records. On its loop.
 */
final class EventGroup {
    /** Time after which a group ends that no stream has returned to. */
    private static final int UNUSED_MS = 1_000;

    private static final int STREAMS_PER_TURN = 256;

    private final EventGroups groups;
    private final LastingCaller caller;
    private final Tail tail;
    private final EventText text;
    private final Set<SseStream> waiting = new LinkedHashSet<>();
    private final List<Integer> turns;

    /** Partitions of the last fetch that had records. */
    private final List<Integer> read = new ArrayList<>();

    private EventGroups.Place place;
    private long fetchedNanos;
    private boolean fetching;
    private boolean closed;
    private Loop.Timer check;

    /**
     * What a fetch has brought.
     *
     * @param events as text, which the round owns; null if there are none
     * @param count number of events
     * @param lastId the id of the last event
     * @param positions those behind the events
     * @param foundRecords whether the fetch has found records, even if none became an event
     * @param fetchedNanos when the fetch began
     */
    record Round(
            ByteBuf events,
            int count,
            String lastId,
            Map<Integer, Long> positions,
            boolean foundRecords,
            long fetchedNanos) {}

    /** @param first its identity is that of all streams of the group */
    EventGroup(EventGroups groups, HttpExchange first, EventGroups.Place place) {
        this.groups = groups;
        this.place = place;
        this.turns = new ArrayList<>(place.turns());
        this.caller = first.lasting(this::release, waiting::size);
        this.tail = new Tail(caller, place.topic(), Tail.FETCH_BYTES);
        this.text = new EventText(caller.allocator());
        text.setPartBytes(first);
        tail.begin(Cursor.parse(place.positions()));
        check = caller.schedule(this::check, UNUSED_MS);
    }

    /** Whether the group is still at the place where it has left a stream. */
    boolean isAt(EventGroups.Place its) {
        return !closed && place.equals(its);
    }

    /** A stream waits at the place of the group. */
    void add(SseStream stream) {
        waiting.add(stream);
        if (fetching) {
            return;
        }
        fetching = true;
        if (tail.hasRest()) {
            tail.goOn();
            caller.later(this::onFetched);
        } else {
            read.clear();
            fetchedNanos = caller.cycle().loop().nanoTime();
            tail.fetch(turns, SseStream.HEARTBEAT_MS, this::onFetched);
        }
    }

    /** A stream has ended. */
    void remove(SseStream stream) {
        waiting.remove(stream);
    }

    private void check() {
        if (fetching) {
            check = caller.schedule(this::check, UNUSED_MS);
        } else {
            close();
        }
    }

    private void onFetched() {
        fetching = false;
        Round round = waiting.isEmpty() ? null : encode();
        if (round == null) {
            release();
            return;
        }
        groups.leave(this, place);
        place = place.behind(round.positions(), turns);
        if (!groups.arrive(this, place)) {
            close();
        }
        Iterator<SseStream> streams = List.copyOf(waiting).iterator();
        waiting.clear();
        pass(round, place, streams);
    }

    /** Passes the events on. Other connections have their turns in between. */
    private void pass(Round round, EventGroups.Place behind, Iterator<SseStream> streams) {
        for (int i = 0; i < STREAMS_PER_TURN && streams.hasNext(); i++) {
            streams.next().onRound(round, behind);
        }
        if (streams.hasNext()) {
            caller.later(() -> pass(round, behind, streams));
        } else if (round.events() != null) {
            round.events().release();
        }
    }

    /** Ends the group. The streams that wait go on without it. */
    private void release() {
        List<SseStream> streams = List.copyOf(waiting);
        waiting.clear();
        close();
        streams.forEach(SseStream::onUnshared);
    }

    /** Returns null if the streams cannot share what was fetched. */
    private Round encode() {
        int count = 0;
        try {
            while (true) {
                switch (tail.next()) {
                    case RECORD -> {
                        count++;
                        text.addRecord(tail.partition(), tail.record());
                    }
                    case PARTITION -> {
                        if (tail.hasRecords()) {
                            read.add(tail.partition());
                            text.beginPartition(tail.partition(), tail.positions());
                        }
                    }
                    case OUT_OF_RANGE, FAILED -> {
                        return null;
                    }
                    case END, FETCH -> {
                        tail.drop();
                        turns.removeAll(read);
                        turns.addAll(read);
                        return round(count);
                    }
                }
                if (text.isFull()) {
                    tail.keep();
                    return round(count);
                }
            }
        } catch (InvalidBatchException unreadable) {
            return null; // each stream tells its client
        }
    }

    private Round round(int count) {
        return new Round(
                text.take(), count, text.lastId(), new TreeMap<>(tail.positions()), !read.isEmpty(), fetchedNanos);
    }

    private void close() {
        if (!closed) {
            closed = true;
            groups.leave(this, place);
            check.cancel();
            tail.close();
            text.close();
            caller.close();
        }
    }
}
