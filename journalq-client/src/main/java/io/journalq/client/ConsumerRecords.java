package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.internal.fetch.Fetcher;
import io.journalq.client.serialization.Deserializer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * The records that one poll returned. They are still in the network buffer: batches are decompressed and records
 * decoded while you iterate.
 *
 * <p>Valid until the next {@code poll} or {@code close} of the consumer. Every {@link ConsumerRecord} obtained from it
 * stays valid. Belongs to the thread that polls.
 */
public final class ConsumerRecords implements Iterable<ConsumerRecord> {
    private final List<Fetcher.FetchedPartition> fetched;
    private final List<BatchReader> readers = new ArrayList<>(1);
    private final int count;
    /** Volatile, because another thread may close the consumer. */
    private volatile boolean released;

    ConsumerRecords(List<Fetcher.FetchedPartition> fetched) {
        this.fetched = fetched;
        int total = 0;
        for (Fetcher.FetchedPartition part : fetched) {
            total += part.recordCount();
        }
        this.count = total;
    }

    /** The number of records. Known from the batch headers, so the call decodes nothing. */
    public int count() {
        return count;
    }

    public boolean isEmpty() {
        return count == 0;
    }

    /** The size of the batches in bytes, compressed. */
    public long sizeBytes() {
        long total = 0;
        for (Fetcher.FetchedPartition part : fetched) {
            total += part.batches().readableBytes();
        }
        return total;
    }

    /** The partitions that have records, without duplicates. */
    public List<TopicPartition> partitions() {
        return fetched.stream()
                .map(Fetcher.FetchedPartition::topicPartition)
                .distinct()
                .toList();
    }

    /** The records of one partition; empty if there are none. */
    public Iterable<ConsumerRecord> records(TopicPartition partition) {
        List<Fetcher.FetchedPartition> parts = fetched.stream()
                .filter(part -> part.topicPartition().equals(partition))
                .toList();
        return () -> iterate(parts);
    }

    /**
     * Iterates over all records, partition by partition. Within a partition, records come in the order of their
     * offsets.
     */
    @Override
    public Iterator<ConsumerRecord> iterator() {
        return iterate(fetched);
    }

    /**
     * Returns all records with their keys and values as objects, in the order of {@link #iterator()}. The deserializers
     * read from the network buffer, while you iterate. If one of them fails, {@code next()} throws {@link
     * io.journalq.client.error.SerializationException}, and the next call continues with the record after it.
     *
     * <pre>{@code
     * for (TypedRecord<String, Long> record : consumer.poll(timeout).decode(Serdes.utf8(), Serdes.longs())) {
     *     totals.merge(record.key(), record.value(), Long::sum);
     * }
     * }</pre>
     */
    public <K, V> Iterable<TypedRecord<K, V>> decode(
            Deserializer<? extends K> keyDeserializer, Deserializer<? extends V> valueDeserializer) {
        notNull(keyDeserializer, "keyDeserializer");
        notNull(valueDeserializer, "valueDeserializer");
        return () -> new RecordIterator<>(
                new Walk(fetched, openReader()), walk -> walk.decode(keyDeserializer, valueDeserializer));
    }

    /** Visits every record without copying its key or value. This is the fastest way to read a part of each record. */
    public void visit(RecordVisitor visitor) {
        Walk walk = new Walk(fetched, openReader());
        while (walk.step()) {
            try {
                visitor.visit(walk.partition.topic(), walk.partition.partition(), walk.reader);
            } catch (InvalidBatchException e) {
                throw walk.corrupt(e); // the visitor decodes the fields
            }
        }
    }

    /**
     * Returns a new map with the offset at which the records of each partition start: the position of the consumer
     * before the poll. An application that cannot use the records can seek back to it. Decodes nothing.
     */
    public Map<TopicPartition, Long> startOffsets() {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (Fetcher.FetchedPartition part : fetched) {
            offsets.putIfAbsent(part.topicPartition(), part.startOffset());
        }
        return offsets;
    }

    /** Ends the validity of the records. The consumer calls this before it releases the buffers. */
    void release() {
        released = !fetched.isEmpty();
        for (BatchReader reader : readers) {
            reader.close();
        }
        readers.clear();
    }

    private Iterator<ConsumerRecord> iterate(List<Fetcher.FetchedPartition> parts) {
        return new RecordIterator<>(new Walk(parts, openReader()), Walk::copy);
    }

    private BatchReader openReader() {
        if (released) {
            throw new IllegalStateException(
                    "these records were released by the next poll or close; keep the ConsumerRecord objects instead");
        }
        BatchReader reader =
                new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false);
        readers.add(reader);
        return reader;
    }

    /** Steps through the records at or after the start offset of each part. */
    private static final class Walk {
        private final Iterator<Fetcher.FetchedPartition> parts;
        private final BatchReader reader;
        private TopicPartition partition;
        private long startOffset;
        private boolean inBatch;

        private Walk(List<Fetcher.FetchedPartition> parts, BatchReader reader) {
            this.parts = parts.iterator();
            this.reader = reader;
        }

        private boolean step() {
            try {
                while (true) {
                    while (inBatch && reader.next()) {
                        if (reader.offset() >= startOffset) {
                            return true;
                        }
                    }
                    inBatch = nextBatch();
                    if (!inBatch) {
                        return false;
                    }
                }
            } catch (InvalidBatchException e) {
                throw corrupt(e);
            }
        }

        private CorruptBatchException corrupt(InvalidBatchException cause) {
            return new CorruptBatchException(
                    "batch of " + partition + " at offset " + reader.baseOffset() + " cannot be read: "
                            + cause.getMessage() + "; to skip it, seek to " + reader.nextOffset(),
                    cause);
        }

        /** Returns the current record as a copy. */
        private ConsumerRecord copy() {
            return new ConsumerRecord(
                    partition.topic(),
                    partition.partition(),
                    reader.offset(),
                    reader.timestampMs(),
                    copy(reader.key()),
                    copy(reader.value()),
                    reader.headers());
        }

        private static byte[] copy(ByteBuf view) {
            return view == null ? null : ByteBufUtil.getBytes(view);
        }

        /** Returns the current record as objects. */
        private <K, V> TypedRecord<K, V> decode(
                Deserializer<? extends K> keyDeserializer, Deserializer<? extends V> valueDeserializer) {
            return new TypedRecord<>(
                    partition.topic(),
                    partition.partition(),
                    reader.offset(),
                    reader.timestampMs(),
                    decode(keyDeserializer, "key", reader.key()),
                    decode(valueDeserializer, "value", reader.value()),
                    reader.headers());
        }

        private <T> T decode(Deserializer<? extends T> deserializer, String part, ByteBuf view) {
            return TypedRecord.decode(
                    deserializer,
                    part,
                    partition.topic(),
                    partition.partition(),
                    reader.offset(),
                    view == null ? null : view.nioBuffer());
        }

        private boolean nextBatch() {
            while (true) {
                if (partition != null) {
                    while (reader.nextBatch()) {
                        if (!reader.isControlBatch()) {
                            return true;
                        }
                    }
                }
                if (!parts.hasNext()) {
                    partition = null;
                    reader.close();
                    return false;
                }
                Fetcher.FetchedPartition part = parts.next();
                partition = part.topicPartition();
                startOffset = part.startOffset();
                reader.reset(part.batches());
            }
        }
    }

    private static final class RecordIterator<R> implements Iterator<R> {
        private final Walk walk;
        private final Function<Walk, R> read;
        private boolean stepped;
        private boolean present;

        private RecordIterator(Walk walk, Function<Walk, R> read) {
            this.walk = walk;
            this.read = read;
        }

        @Override
        public boolean hasNext() {
            if (!stepped) {
                present = walk.step();
                stepped = true;
            }
            return present;
        }

        @Override
        public R next() {
            if (!hasNext()) {
                throw new NoSuchElementException("there are no more records in this poll");
            }
            stepped = false;
            try {
                return read.apply(walk);
            } catch (InvalidBatchException e) {
                throw walk.corrupt(e); // its fields are decoded only now
            }
        }
    }
}
