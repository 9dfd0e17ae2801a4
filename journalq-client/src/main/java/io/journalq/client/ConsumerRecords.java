package io.journalq.client;

import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.fetch.FetchedPartition;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * What one poll returned, still in the network buffer: batches are decompressed and records decoded as the iteration
 * reaches them, and {@link #count()} reads nothing but what the poll noted from the batch headers.
 *
 * <p>Valid until the consumer's next {@code poll} or {@code close}; the {@link ConsumerRecord}s that came out of it stay
 * valid. Belongs to the consumer's thread.
 */
public final class ConsumerRecords implements Iterable<ConsumerRecord> {
    private final List<FetchedPartition> fetched;
    private final List<BatchReader> readers = new ArrayList<>(1);
    private final int count;
    private boolean released;

    ConsumerRecords(List<FetchedPartition> fetched) {
        this.fetched = fetched;
        int total = 0;
        for (FetchedPartition part : fetched) {
            total += part.recordCount();
        }
        this.count = total;
    }

    /** Number of records. Costs nothing. */
    public int count() {
        return count;
    }

    public boolean isEmpty() {
        return count == 0;
    }

    /** Bytes of the batches as they came, compressed. */
    public long sizeBytes() {
        long total = 0;
        for (FetchedPartition part : fetched) {
            total += part.batches().readableBytes();
        }
        return total;
    }

    /** The partitions of which there is something, each once for every answer that held some. */
    public List<TopicPartition> partitions() {
        return fetched.stream().map(FetchedPartition::topicPartition).distinct().toList();
    }

    /** The records of one partition; none when there are none. */
    public Iterable<ConsumerRecord> records(TopicPartition partition) {
        List<FetchedPartition> parts = fetched.stream()
                .filter(part -> part.topicPartition().equals(partition))
                .toList();
        return () -> iterate(parts);
    }

    /** Every record, partition after partition, in offset order within each. */
    @Override
    public Iterator<ConsumerRecord> iterator() {
        return iterate(fetched);
    }

    /** Walks over every record without copying its key or value: the cheapest way to look at some of each. */
    public void visit(RecordVisitor visitor) {
        Walk walk = new Walk(fetched, openReader());
        while (walk.step()) {
            visitor.visit(walk.partition.topic(), walk.partition.partition(), walk.reader);
        }
    }

    /** Ends the validity. Called by the consumer before it lets go of the buffers. */
    void release() {
        released = !fetched.isEmpty();
        for (BatchReader reader : readers) {
            reader.close();
        }
        readers.clear();
    }

    private Iterator<ConsumerRecord> iterate(List<FetchedPartition> parts) {
        return new RecordIterator(new Walk(parts, openReader()));
    }

    private BatchReader openReader() {
        if (released) {
            throw new IllegalStateException("these records ended with the next poll; keep the ConsumerRecord objects");
        }
        BatchReader reader =
                new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false);
        readers.add(reader);
        return reader;
    }

    /** Steps through the records at or after each part's start. */
    private static final class Walk {
        private final Iterator<FetchedPartition> parts;
        private final BatchReader reader;
        private TopicPartition partition;
        private long startOffset;
        private boolean inBatch;

        private Walk(List<FetchedPartition> parts, BatchReader reader) {
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
            } catch (io.journalq.common.record.CorruptBatchException e) {
                throw new CorruptBatchException(
                        "batch of " + partition + " at offset " + reader.baseOffset() + " cannot be read: "
                                + e.getMessage() + "; seek to " + reader.nextOffset() + " to go on after it",
                        e);
            }
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
                FetchedPartition part = parts.next();
                partition = part.topicPartition();
                startOffset = part.startOffset();
                reader.reset(part.batches());
            }
        }
    }

    private static final class RecordIterator implements Iterator<ConsumerRecord> {
        private final Walk walk;
        private boolean stepped;
        private boolean present;

        private RecordIterator(Walk walk) {
            this.walk = walk;
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
        public ConsumerRecord next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no record left in this poll");
            }
            stepped = false;
            BatchReader reader = walk.reader;
            return new ConsumerRecord(
                    walk.partition.topic(),
                    walk.partition.partition(),
                    reader.offset(),
                    reader.timestampMs(),
                    copy(reader.key()),
                    copy(reader.value()),
                    reader.headers());
        }

        private static byte[] copy(ByteBuf view) {
            return view == null ? null : ByteBufUtil.getBytes(view);
        }
    }
}
