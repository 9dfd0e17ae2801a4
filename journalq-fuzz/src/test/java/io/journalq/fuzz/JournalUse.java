package io.journalq.fuzz;

import io.journalq.common.record.BatchReader;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.JournalSnapshot;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Does with a journal what a broker does. Files that cannot be used may make any of it fail with an IOException only. */
final class JournalUse {
    static final Path DIRECTORY = Path.of("journal");

    /** Small segments and intervals, so that little data makes all kinds of files. */
    static final JournalConfig CONFIG = JournalConfig.DEFAULT
            .withSegmentSizeBytes(1_024)
            .withIndexIntervalBytes(100)
            .withCheckpointIntervalBytes(500);

    private static final int READ_SIZE_BYTES = 700;
    private static final int NEWEST_EPOCH = 3;

    private final FileStore store;
    private final Path directory;

    JournalUse(FileStore store) {
        this(store, DIRECTORY);
    }

    JournalUse(FileStore store, Path directory) {
        this.store = store;
        this.directory = directory;
    }

    /** Writes a journal with several segments, an index of transactions and a snapshot, and closes it. */
    void write() throws IOException {
        try (Journal journal = Journal.open(store, directory, CONFIG, Runnable::run)) {
            for (int i = 0; i < 12; i++) {
                append(journal, 1 + i / 4);
            }
            long end = journal.writtenOffset();
            journal.derivedState().addAborted(new AbortedTransaction(7, 1, 5, 1));
            journal.derivedState().addAborted(new AbortedTransaction(8, end - 6, end - 2, end - 6));
            journal.derivedState().writeSnapshot(end, ByteBuffer.wrap(new byte[] {1, 2, 3}));
        }
    }

    /** Opens it, uses everything, goes on writing, closes it, and checks it as an operator does. */
    void use() throws IOException {
        try (Journal journal = Journal.open(store, directory, CONFIG, Runnable::run)) {
            attempt(() -> readAll(journal));
            attempt(() -> search(journal, search -> search.findByTimestamp(SampleBatches.TIMESTAMP_MS + 1)));
            attempt(() -> search(journal, JournalSearch::maxTimestamp));
            attempt(() -> search(journal, search -> search.forEachBatch(journal.startOffset(), header -> {})));
            attempt(() -> restore(journal));
            attempt(() -> journal.derivedState().abortedTransactions().find(0, journal.writtenOffset()));
            attempt(() -> {
                for (int epoch = 0; epoch <= journal.epochs().latest() && epoch < 10; epoch++) {
                    journal.epochs().endOffsetOf(epoch, journal.writtenOffset());
                }
            });
            attempt(() ->
                    append(journal, Math.max(NEWEST_EPOCH, journal.epochs().latest())));
            attempt(() -> journal.applyRetention(SampleBatches.TIMESTAMP_MS, journal.writtenOffset()));
            attempt(() -> readAll(journal));
            attempt(() -> journal.truncateTo((journal.startOffset() + journal.writtenOffset()) / 2));
            attempt(journal::flush);
        }
        JournalCheck.run(store, directory);
    }

    private interface Action {
        void run() throws IOException;
    }

    private static void attempt(Action action) {
        try {
            action.run();
        } catch (IOException expected) {
            return;
        }
    }

    private interface Lookup {
        void in(JournalSearch search) throws IOException;
    }

    private static void search(Journal journal, Lookup lookup) throws IOException {
        try (JournalSearch search = journal.search()) {
            lookup.in(search);
        }
    }

    private static void append(Journal journal, int epoch) throws IOException {
        ByteBuf batch = SampleBatches.plain(4);
        try {
            journal.append(batch, epoch);
        } finally {
            batch.release();
        }
        journal.write();
    }

    private static void restore(Journal journal) throws IOException {
        JournalSnapshot snapshot = journal.derivedState().restoreSnapshot();
        if (snapshot != null && snapshot.offset() > journal.writtenOffset()) {
            throw new AssertionError("a snapshot from behind the end");
        }
    }

    private static void readAll(Journal journal) throws IOException {
        long offset = journal.startOffset();
        while (offset < journal.writtenOffset()) {
            JournalSlice slice = journal.read(offset, journal.writtenOffset(), READ_SIZE_BYTES, true);
            if (slice.isEmpty()) {
                return;
            }
            ByteBuf bytes = slice.readFully(UnpooledByteBufAllocator.DEFAULT);
            try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
                reader.reset(bytes);
                long before = offset;
                while (reader.nextBatch()) {
                    offset = Math.max(offset, reader.nextOffset());
                }
                if (offset == before) {
                    return;
                }
            } finally {
                bytes.release();
            }
        }
    }
}
