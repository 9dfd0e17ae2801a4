package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.journalq.common.protocol.Message;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.record.ClusterRecord;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalMetadataLogTest {
    private static final int SNAPSHOT_INTERVAL_BYTES = 50_000;
    private static final int TEXT_SIZE = 20_000;

    private final LimitedMemory memory = new LimitedMemory();
    private final Records state = new Records();

    /** Has no memory for a large buffer. */
    private static final class LimitedMemory extends AbstractByteBufAllocator {
        private volatile int maxBytes = Integer.MAX_VALUE;

        LimitedMemory() {
            super(true);
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return new UnpooledDirectByteBuf(this, initialCapacity, maxCapacity) {
                @Override
                public ByteBuf capacity(int newCapacity) {
                    if (newCapacity > maxBytes) {
                        throw new OutOfMemoryError("planted");
                    }
                    return super.capacity(newCapacity);
                }
            };
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    /** A state that consists of all records. */
    private static final class Records implements MetadataLog.Replica {
        private final List<Message> all = new ArrayList<>();

        @Override
        public void replay(List<Message> records) {
            all.addAll(records);
        }

        @Override
        public void restore(List<Message> snapshot) {
            all.clear();
            all.addAll(snapshot);
        }

        @Override
        public List<Message> snapshot() {
            return List.copyOf(all);
        }

        @Override
        public int level() {
            return ClusterVersion.FIRST;
        }
    }

    private static MetadataBatch batch(long offset) {
        return new MetadataBatch(offset, List.of(new ClusterRecord().setClusterId("x".repeat(TEXT_SIZE))));
    }

    @Test
    void shouldCommitABatchWhenThereIsNoMemoryForASnapshot() throws IOException {
        MemoryFileStore store = new MemoryFileStore();
        Path directory = Path.of("metadata-0");
        Journal journal = Journal.openWhole(store, directory, LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        try (LocalMetadataLog log =
                new LocalMetadataLog(1, journal, Clock.systemUTC(), memory, SNAPSHOT_INTERVAL_BYTES)) {
            // given
            log.open(state);
            log.propose(batch(0)).join();
            log.propose(batch(1)).join();
            memory.maxBytes = SNAPSHOT_INTERVAL_BYTES;

            // when a snapshot is due
            assertThatCode(() -> log.propose(batch(2)).join()).doesNotThrowAnyException();

            // then it is written when there is memory, and as much was appended again
            assertThat(store.list(directory)).noneMatch(name -> name.endsWith(".snapshot"));
            memory.maxBytes = Integer.MAX_VALUE;
            for (int offset = 3; offset < 6; offset++) {
                log.propose(batch(offset)).join();
            }
            assertThat(store.list(directory)).anyMatch(name -> name.endsWith(".snapshot"));
            assertThat(state.all).hasSize(6);
        }
    }
}
