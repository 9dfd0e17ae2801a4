package io.journalq.server.journal;

import io.journalq.server.journal.wal.CoveredJournal;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Commits every write and truncation of a journal to write-ahead files at once. */
final class CommittedWrites implements JournalWrites {
    private static final int CUT_BYTES = 1_000;

    private final WriteAheadLog log;
    private final CoveredJournal cover;
    private final byte[] directoryName;

    CommittedWrites(WriteAheadLog log, CoveredJournal cover, Path directory) {
        this.log = log;
        this.cover = cover;
        this.directoryName = directory.getFileName().toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches) {
        WriteAheadFrames frames = new WriteAheadFrames(log.maxFramesSizeBytes(1));
        WriteAheadFrames.Entry entry = new WriteAheadFrames.Entry(cover, endOffset);
        try {
            if (!frames.add(entry, directoryName, segmentBaseOffset, position, batches)
                    || !log.commit(List.of(frames))) {
                throw new AssertionError("the write up to " + endOffset + " is not committed");
            }
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    @Override
    public void beforeTruncation(long offset) throws IOException {
        WriteAheadFrames frames = new WriteAheadFrames(CUT_BYTES);
        if (!frames.addCut(cover, directoryName, offset) || !log.commit(List.of(frames))) {
            throw new IOException("the cut is not committed");
        }
    }
}
