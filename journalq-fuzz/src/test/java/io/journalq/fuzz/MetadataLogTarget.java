package io.journalq.fuzz;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.control.LocalMetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.MetadataMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;

/** Records of the metadata log and of its snapshots. First byte: how many stand in a snapshot; then records. */
final class MetadataLogTarget implements FuzzTarget {
    private static final Path DIRECTORY = Path.of("metadata");
    private static final long MAX_ALLOCATED_BYTES = 1 << 20;
    private static final int MAX_ALLOCATED_PER_BYTE = 1_000;
    private static final int FRAME_VERSION = 1;

    /** In the order of their numbers in the log. */
    private static final List<String> RECORDS = List.of(
            "Cluster",
            "Topic",
            "Partitions",
            "RemoveTopic",
            "Config",
            "ProducerIds",
            "NodeStarted",
            "ClientQuota",
            "SnapshotEnd");

    @Override
    public String name() {
        return "metadata-log";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        List<byte[]> all = new ArrayList<>();
        for (int type = 0; type < RECORDS.size(); type++) {
            byte[] content = SampleMessages.encode(
                    "io.journalq.server.metadata.record." + RECORDS.get(type) + "Record", (short) 0);
            byte[] record = ByteBuffer.allocate(3 + content.length)
                    .put((byte) FRAME_VERSION)
                    .put((byte) type)
                    .put((byte) 0)
                    .put(content)
                    .array();
            all.add(record);
            seeds.add(seed(0, List.of(record)));
        }
        List<byte[]> made = new ArrayList<>(all.subList(0, 3));
        seeds.add(seed(0, made));
        made.add(all.get(4));
        made.add(all.get(3));
        seeds.add(seed(2, made));
        seeds.add(seed(all.size(), all));
        return seeds;
    }

    private static byte[] seed(int inSnapshot, List<byte[]> records) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(inSnapshot);
        out.writeBytes(Parts.of(records.toArray(new byte[0][])));
        return out.toByteArray();
    }

    @Override
    public void run(byte[] input) throws IOException {
        MemoryFileStore store = new MemoryFileStore();
        try (Journal journal = Journal.open(store, DIRECTORY, LocalMetadataLog.JOURNAL_CONFIG, Runnable::run)) {
            Parts parts = new Parts(input);
            writeSnapshot(journal, parts, parts.nextByte());
            append(journal, parts);
            MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(0, 1, 100, 1_000));
            LocalMetadataLog log =
                    new LocalMetadataLog(0, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT);
            log.open(new MetadataReplica(machine, new MetadataPublisher(Runnable::run)));
        } catch (IOException expected) {
            return;
        }
    }

    private static void writeSnapshot(Journal journal, Parts parts, int count) throws IOException {
        ByteArrayOutputStream state = new ByteArrayOutputStream();
        byte[] record = count == 0 ? null : parts.next();
        for (int left = count; left > 0 && record != null; left--) {
            state.writeBytes(
                    ByteBuffer.allocate(Integer.BYTES).putInt(record.length).array());
            state.writeBytes(record);
            record = left > 1 ? parts.next() : null;
        }
        if (count > 0) {
            journal.derivedState().writeSnapshot(0, ByteBuffer.wrap(state.toByteArray()));
        }
    }

    private static void append(Journal journal, Parts parts) throws IOException {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (byte[] record = parts.next(); record != null; record = parts.next()) {
                builder.append(SampleBatches.TIMESTAMP_MS, (byte[]) null, record, List.of());
            }
            if (builder.recordCount() > 0) {
                ByteBuf batch = builder.build();
                journal.append(batch, 0);
                batch.release();
                journal.write();
            }
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
