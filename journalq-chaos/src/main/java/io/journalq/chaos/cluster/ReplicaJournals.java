package io.journalq.chaos.cluster;

import io.journalq.common.record.BatchReader;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.SegmentScan;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads the journals of replicas from the disk, while no producer writes to them. Segments can begin at different
 * offsets in different replicas, so the bytes of all segments of a replica count as one sequence. Stateless.
 */
final class ReplicaJournals {
    private static final FileStore STORE = new SystemFileStore();

    private ReplicaJournals() {}

    /** Receives the records of a journal, in its order. */
    interface Visitor {
        void onRecord(long offset, byte[] value);

        /** Bytes that are no healthy batch. */
        void onBadBytes(Path file, int position, int endPosition);
    }

    /** The bytes of all segments of the journal in {@code directory}. */
    static byte[] bytes(Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Path segment : segments(directory)) {
            bytes.writeBytes(Files.readAllBytes(segment));
        }
        return bytes.toByteArray();
    }

    /** Reads all records of the journal in {@code directory}. */
    static void read(Path directory, Visitor visitor) throws IOException {
        for (Path segment : segments(directory)) {
            SegmentScan.read(STORE, segment, JournalCheck.baseOffsetOf(segment), new SegmentScan.Visitor() {
                @Override
                public void onBatch(int position, ByteBuf header, SegmentScan.Reader whole) throws IOException {
                    ByteBuf batch = whole.read();
                    try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
                        reader.reset(batch);
                        while (reader.nextBatch()) {
                            while (!reader.isControlBatch() && reader.next()) {
                                visitor.onRecord(reader.offset(), ByteBufUtil.getBytes(reader.value()));
                            }
                        }
                    } finally {
                        batch.release();
                    }
                }

                @Override
                public void onBadBytes(int position, int endPosition) {
                    visitor.onBadBytes(segment, position, endPosition);
                }
            });
        }
    }

    /** The files of a journal, oldest first. Their names begin with their first offsets. */
    private static List<Path> segments(Path directory) throws IOException {
        return STORE.list(directory).stream()
                .filter(name -> name.endsWith(".log") || name.endsWith(".tail"))
                .sorted()
                .map(directory::resolve)
                .toList();
    }
}
