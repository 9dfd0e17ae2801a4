package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchReader;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.SegmentScan;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.metadata.record.TopicRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the names of topics from the metadata log of a broker that is not running, for tools. Unlike a broker, it takes what
 * it can read from a damaged log. Names of deleted topics are included. Stateless; blocks.
 */
public final class StoredTopicNames {
    private StoredTopicNames() {}

    /**
     * Returns the names of topics by their ids.
     *
     * @param directory the directory of the metadata log; it does not have to exist
     */
    public static Map<Uuid, String> read(FileStore store, Path directory) throws IOException {
        Map<Uuid, String> names = new HashMap<>();
        if (!Files.isDirectory(directory)) {
            return names;
        }
        for (String file : store.list(directory)) {
            Path path = directory.resolve(file);
            try {
                if (file.endsWith(".snapshot")) {
                    addSnapshot(JournalCheck.snapshotState(store, path), names);
                } else if (file.endsWith(".log")) {
                    addSegment(store, path, names);
                }
            } catch (IOException damaged) {
                // The check of the journal reports this. The other files can still be read.
            }
        }
        return names;
    }

    private static void addSnapshot(ByteBuffer content, Map<Uuid, String> names) {
        ByteBuf state = Unpooled.wrappedBuffer(content);
        while (state.readableBytes() >= Integer.BYTES) {
            add(state.readSlice(Math.min(state.readInt(), state.readableBytes())), names);
        }
    }

    private static void addSegment(FileStore store, Path log, Map<Uuid, String> names) throws IOException {
        try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT)) {
            SegmentScan.read(store, log, JournalCheck.baseOffsetOf(log), new SegmentScan.Visitor() {
                @Override
                public void onBatch(int position, ByteBuf header, SegmentScan.Reader whole) throws IOException {
                    ByteBuf batch = whole.read();
                    try {
                        reader.reset(batch);
                        while (reader.nextBatch()) {
                            while (reader.next()) {
                                add(reader.value(), names);
                            }
                        }
                    } finally {
                        batch.release();
                    }
                }

                @Override
                public void onBadBytes(int position, int endPosition) {
                    // The check of the journal reports them.
                }
            });
        }
    }

    private static void add(ByteBuf value, Map<Uuid, String> names) {
        try {
            Message record = MetadataRecordCodec.decode(value);
            if (record instanceof TopicRecord topic) {
                names.put(topic.topicId(), topic.name());
            }
        } catch (IOException | RuntimeException ofANewerRelease) {
            // Its name stays unknown.
        }
    }
}
