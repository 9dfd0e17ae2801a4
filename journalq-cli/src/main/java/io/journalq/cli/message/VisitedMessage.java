package io.journalq.cli.message;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** The current record of a reader, in the network buffer. One object is reused for all messages. */
final class VisitedMessage implements ConsumedMessage {
    private String topic;
    private int partition;
    private BatchReader record;

    /** Sets the current record. */
    ConsumedMessage at(String recordTopic, int recordPartition, BatchReader reader) {
        this.topic = recordTopic;
        this.partition = recordPartition;
        this.record = reader;
        return this;
    }

    @Override
    public String topic() {
        return topic;
    }

    @Override
    public int partition() {
        return partition;
    }

    @Override
    public long offset() {
        return record.offset();
    }

    @Override
    public long timestampMs() {
        return record.timestampMs();
    }

    @Override
    public ByteBuf key() {
        return record.key();
    }

    @Override
    public ByteBuf value() {
        return record.value();
    }

    @Override
    public List<Header> headers() {
        return record.headers();
    }
}
