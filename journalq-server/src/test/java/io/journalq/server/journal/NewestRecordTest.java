package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.maxTimestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.read.JournalSearch.TimestampOffset;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The record with the largest timestamp, after the first records of its batch were deleted. */
class NewestRecordTest {
    private int reads;

    private Journal written(long... timestampsMs) throws IOException {
        FilterFileStore store = new FilterFileStore(new MemoryFileStore()) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public int read(ByteBuffer target, long position) throws IOException {
                        reads++;
                        return super.read(target, position);
                    }
                };
            }
        };
        Journal journal = Journal.open(store, Path.of("data", "topic-0"), JournalConfig.DEFAULT, Runnable::run);
        ByteBuf batch = TestBatches.batch(timestampsMs, 10, (byte) 'v');
        journal.append(batch, 1);
        batch.release();
        journal.write();
        journal.deleteRecordsBefore(1);
        return journal;
    }

    @Test
    void shouldReadABatchOnceWhenTimestampsAscend() throws IOException {
        Journal journal = written(LongStream.range(1_000, 1_200).toArray());
        reads = 0;

        assertThat(maxTimestamp(journal)).isEqualTo(new TimestampOffset(1_199, 199, 1));

        assertThat(reads).as("headers, and the batch").isLessThanOrEqualTo(3);
    }

    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldFindTheLargestTimestampOfAll() throws IOException {
        Journal journal = written(1_000, 1_001, Long.MAX_VALUE, 1_002);

        assertThat(maxTimestamp(journal)).isEqualTo(new TimestampOffset(Long.MAX_VALUE, 2, 1));
    }

    @Test
    void shouldFindTheFirstOfSeveralWithTheLargestTimestamp() throws IOException {
        Journal journal = written(3_000, 1_001, 2_000, 2_000);

        assertThat(maxTimestamp(journal)).isEqualTo(new TimestampOffset(2_000, 2, 1));
    }
}
