package io.journalq.server.shard.read;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.read.JournalSearch.TimestampOffset;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds offsets by time among the records of one partition that are currently visible to consumers. Any thread; blocks.
 */
public final class TimestampLookup {
    private static final Logger log = LoggerFactory.getLogger(TimestampLookup.class);
    private static final Found NOTHING = new Found(ErrorCode.NONE, -1L, -1L, -1);

    private final Journal journal;
    private final long visibleOffset;

    /**
     * The result of a lookup.
     *
     * @param error {@link ErrorCode#NONE} if the journal could be read
     * @param offset the record's offset; -1 if there is none
     * @param timestampMs the record's timestamp, in milliseconds since 1970 UTC; -1 if there is none
     * @param leaderEpoch the epoch in which it was written; -1 if unknown
     */
    public record Found(ErrorCode error, long offset, long timestampMs, int leaderEpoch) {}

    TimestampLookup(Journal journal, long visibleOffset) {
        this.journal = journal;
        this.visibleOffset = visibleOffset;
    }

    /**
     * The timestamp of the batch that holds a record, by its header: that of its first record or, if the broker set the
     * timestamps, that of all.
     *
     * @param offset of the record; if there is none, the next one counts
     * @return in milliseconds since 1970 UTC; -1 if no such record is written yet, or it has no timestamp
     * @throws IOException if the journal cannot be read
     */
    public long ofBatch(long offset) throws IOException {
        try (JournalSearch search = journal.search()) {
            return search.batchTimestampMs(offset);
        }
    }

    /** The first record that is not older than {@code timestampMs}. */
    public Found first(long timestampMs) {
        return find(search -> search.findByTimestamp(timestampMs));
    }

    /** The first record that has the largest timestamp. */
    public Found largest() {
        return find(JournalSearch::maxTimestamp);
    }

    private Found find(Lookup lookup) {
        try (JournalSearch search = journal.search()) {
            TimestampOffset found = lookup.in(search);
            return found == null || found.offset() >= visibleOffset
                    ? NOTHING
                    : new Found(ErrorCode.NONE, found.offset(), found.timestampMs(), found.leaderEpoch());
        } catch (IOException | RuntimeException | OutOfMemoryError | LinkageError failure) {
            // Also after an error, such as too little direct memory: the request waits for a result.
            log.error("cannot look up an offset: {}", journal.directory(), failure);
            return new Found(ErrorCode.KAFKA_STORAGE_ERROR, -1L, -1L, -1);
        }
    }

    /** A lookup in the journal. */
    private interface Lookup {
        TimestampOffset in(JournalSearch search) throws IOException;
    }
}
