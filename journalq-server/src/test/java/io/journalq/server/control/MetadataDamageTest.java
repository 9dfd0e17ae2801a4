package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.TopicSpec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A metadata log with damage in its synced part is rejected and not changed. */
class MetadataDamageTest {
    private static final Path DIRECTORY = Path.of("metadata-0");
    private static final Path LOG = DIRECTORY.resolve("00000000000000000000.log");
    private static final Path CHECKPOINT = DIRECTORY.resolve("journal.checkpoint");
    private static final int TOPICS = 5;

    private final MemoryFileStore store = new MemoryFileStore();
    private long ids;

    private ControllerFixture start() throws IOException {
        return ControllerFixture.start(store, () -> new Uuid(1, ++ids));
    }

    private byte[] content(Path file) throws IOException {
        return store.read(file, Integer.MAX_VALUE);
    }

    private void put(Path file, byte[] content) throws IOException {
        store.replace(file, ByteBuffer.wrap(content), false);
    }

    /** The log of a killed broker. */
    private byte[] killedLog() throws Exception {
        ControllerFixture killed = start();
        for (int i = 0; i < TOPICS; i++) {
            killed.create("topic-" + i, 1);
        }
        return content(LOG);
    }

    private static List<Integer> batches(byte[] log) {
        ByteBuf all = Unpooled.wrappedBuffer(log);
        List<Integer> positions = new ArrayList<>();
        for (int at = 0; at < log.length; at += RecordBatch.sizeBytes(all, at)) {
            positions.add(at);
        }
        return positions;
    }

    @Test
    void shouldRefuseToStartWhenAnyByteBeforeTheLastBatchIsDamagedThoughThereIsNoCheckpoint() throws Exception {
        // given
        byte[] healthy = killedLog();
        store.delete(CHECKPOINT);
        List<Integer> batches = batches(healthy);
        int last = batches.get(batches.size() - 1);
        int at = 0;
        for (int position = 0; position < last; position++) {
            at = batches.contains(position) ? position : at;
            if (position - at >= RecordBatch.LEADER_EPOCH && position - at < RecordBatch.MAGIC) {
                continue; // No checksum covers the epoch, and a metadata log has only one epoch.
            }
            byte[] flipped = healthy.clone();
            flipped[position] ^= 0x10;
            put(LOG, flipped);

            // when, then
            assertThatThrownBy(this::start)
                    .as("byte %d", position)
                    .isInstanceOf(CorruptJournalException.class)
                    .hasMessageStartingWith(LOG + " at byte ")
                    .hasMessageContaining("damaged at offset ")
                    .hasMessageContaining("bin/journalq journal repair " + DIRECTORY + " --execute");
            assertThat(content(LOG)).isEqualTo(flipped);
        }
    }

    @Test
    void shouldRefuseToStartWhenTheLastAcknowledgedChangeIsDamaged() throws Exception {
        byte[] damaged = killedLog();
        damaged[damaged.length - 20] ^= 1;
        put(LOG, damaged);

        int last = batches(content(LOG)).get(batches(damaged).size() - 1);
        assertThatThrownBy(this::start).hasMessageStartingWith(LOG + " at byte " + last + ": ");
    }

    @Test
    void shouldLeaveACheckpointWithTheFirstChange() throws Exception {
        start();

        assertThat(store.list(DIRECTORY)).contains("journal.checkpoint");
    }

    @Test
    void shouldCutAChangeThatWasNotAllWritten() throws Exception {
        byte[] whole = killedLog();
        byte[] torn = Arrays.copyOf(whole, whole.length + 30);
        Arrays.fill(torn, whole.length, torn.length, (byte) 7);
        put(LOG, torn);

        try (ControllerFixture broker = start()) {
            assertThat(broker.image().topic("topic-" + (TOPICS - 1))).isNotNull();
        }
    }

    @Test
    void shouldWriteEverythingOfOneRequestAsOneBatch() throws Exception {
        ControllerFixture broker = start();
        int before = batches(content(LOG)).size();

        ControllerFixture.await(broker.controller.createTopics(
                List.of(
                        new TopicSpec("one", 2, 1, List.of(), Map.of()),
                        new TopicSpec("two", 2, 1, List.of(), Map.of())),
                false));

        assertThat(batches(content(LOG))).hasSize(before + 1);
    }
}
