package io.journalq.sim.metadata;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchReader;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** The batches that the quorum has committed, as bytes. One thread. */
final class CommittedLog {
    private static final long HASH_FACTOR = 0x9E3779B97F4A7C15L;

    private final List<Entry> entries = new ArrayList<>();
    private final Consumer<Entry> onAppend;
    private long endOffset;
    private long hash;

    /**
     * A committed batch.
     *
     * @param creations number of partitions that it creates
     * @param changes number of partitions that it changes
     * @param topics number of topics with one or the other
     */
    record Entry(ByteBuf content, int creations, int changes, int topics) {
        int bytes() {
            return content.readableBytes();
        }
    }

    /** @param onAppend receives each entry */
    CommittedLog(Consumer<Entry> onAppend) {
        this.onAppend = onAppend;
    }

    /** Number of batches. */
    int size() {
        return entries.size();
    }

    /** Number of records. */
    long endOffset() {
        return endOffset;
    }

    /** A hash of all bytes. */
    long hash() {
        return hash;
    }

    Entry entry(int index) {
        return entries.get(index);
    }

    void append(List<Message> records, int level, long timestampMs) {
        ByteBuf encoded = MetadataLogCodec.batch(records, level, timestampMs, UnpooledByteBufAllocator.DEFAULT);
        CRC32C crc = new CRC32C();
        crc.update(encoded.nioBuffer());
        hash = hash * HASH_FACTOR + crc.getValue();
        endOffset += records.size();
        int creations = 0;
        int changes = 0;
        int topics = 0;
        for (Message message : records) {
            if (message instanceof PartitionsRecord created) {
                creations += created.partitions().size();
                topics++;
            } else if (message instanceof PartitionChangesRecord changed) {
                changes += changed.changes().size();
                topics++;
            }
        }
        Entry entry = new Entry(encoded, creations, changes, topics);
        entries.add(entry);
        onAppend.accept(entry);
    }

    /** The records of a batch, decoded as each broker does it. */
    List<Message> read(int index) {
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(entries.get(index).content().duplicate());
            if (!reader.nextBatch()) {
                throw new IllegalStateException("an entry without a batch");
            }
            return MetadataLogCodec.readBatch(reader);
        } catch (IOException unknown) {
            throw new UncheckedIOException(unknown);
        }
    }
}
