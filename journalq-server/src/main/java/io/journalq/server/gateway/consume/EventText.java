package io.journalq.server.gateway.consume;

import io.journalq.common.record.BatchReader;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Map;

/**
 * Writes server-sent events. The id of each is the position of the reader behind it, in all partitions. On the loop of the
 * reader.
 */
final class EventText {
    private final RecordLines lines;

    /** The id of an event before and behind the position of the partition that is being read. */
    private String idPrefix = "";

    private String idSuffix = "";
    private String lastId = "";

    EventText(ByteBufAllocator allocator) {
        this.lines = new RecordLines(allocator);
    }

    /** The id of the last event. */
    String lastId() {
        return lastId;
    }

    /** Another writer has written events up to this id for the same reader. */
    void continueAt(String id) {
        lastId = id;
    }

    /** Sets the size of a part for this client. */
    void setPartBytes(HttpExchange exchange) {
        lines.setPartBytes(exchange.partBytes(RecordLines.PART_BYTES));
    }

    /** Whether the events are a part of a response. */
    boolean isFull() {
        return lines.isFull();
    }

    int sizeBytes() {
        return lines.sizeBytes();
    }

    /**
     * Records of a partition follow.
     *
     * @param positions those of the other partitions do not change until the next call
     */
    void beginPartition(int partition, Map<Integer, Long> positions) {
        StringBuilder before = new StringBuilder();
        StringBuilder behind = new StringBuilder();
        for (Map.Entry<Integer, Long> position : positions.entrySet()) {
            if (position.getKey() < partition) {
                before.append(position.getKey())
                        .append(':')
                        .append(position.getValue())
                        .append(',');
            } else if (position.getKey() > partition) {
                behind.append(',').append(position.getKey()).append(':').append(position.getValue());
            }
        }
        idPrefix = before.append(partition).append(':').toString();
        idSuffix = behind.toString();
    }

    /** Adds the reader's current record. */
    void addRecord(int partition, BatchReader record) {
        lastId = idPrefix + (record.offset() + 1) + idSuffix;
        lines.addText("id: " + lastId + "\ndata: ");
        lines.add(partition, record);
        lines.addText("\n");
    }

    /** Tells the client when it is to reconnect. */
    void addRetry(int delayMs) {
        lines.addText("retry: " + delayMs + "\n");
    }

    /** Adds an event without data, which only tells the client its position. */
    void addId(Map<Integer, Long> positions) {
        lastId = Cursor.format(positions);
        lines.addText("id: " + lastId + "\n\n");
    }

    /** Adds an empty event, which keeps the connection. */
    void addHeartbeat() {
        lines.addText(":\n\n");
    }

    /** Adds an event that is no record. */
    void addEvent(String name, Map<Integer, Long> positions, JsonOut.Document members) {
        lastId = Cursor.format(positions);
        lines.addText("event: " + name + "\nid: " + lastId + "\ndata: ");
        lines.addObject(members);
        lines.addText("\n");
    }

    /** Returns the events so far, which the caller owns; null if there are none. */
    ByteBuf take() {
        return lines.take();
    }

    /** Drops the events. */
    void close() {
        lines.close();
    }
}
