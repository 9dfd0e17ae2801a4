package io.journalq.server.journal.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which aborted transactions a journal reports to its readers. */
class TransactionIndexTest {
    private static final Path DIRECTORY = Path.of("journal");
    private static final int TRANSACTIONS = 200;

    private final FileStore store = new MemoryFileStore();
    private TransactionIndex index;

    @BeforeEach
    void create() throws IOException {
        store.createDirectories(DIRECTORY);
        index = new TransactionIndex(store, DIRECTORY);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldFindWhatAListFindsThroughSavesAndRestarts(long seed) throws IOException {
        // given transactions that overlap, in many segments
        Random random = new Random(seed);
        List<AbortedTransaction> all = transactions(random);
        List<Long> segments = new ArrayList<>(List.of(0L));
        List<Long> saved = List.of();
        int savedCount = 0;

        for (int count = 0; count < all.size(); count++) {
            // when their markers are added one by one, and files are written and read in between
            long markerOffset = all.get(count).markerOffset();
            if (random.nextInt(10) == 0) {
                segments.add(markerOffset);
            }
            index.add(segments.get(segments.size() - 1), all.get(count));
            if (random.nextInt(8) == 0) {
                saved = index.save();
                savedCount = count + 1;
            }
            if (random.nextInt(15) == 0) {
                index = new TransactionIndex(store, DIRECTORY);
                long offset = savedCount == 0 ? 0 : all.get(savedCount - 1).markerOffset() + 1;
                assertThat(index.restore(saved, offset, 0)).isTrue();
                for (AbortedTransaction again : all.subList(savedCount, count + 1)) {
                    index.add(segmentOf(segments, again.markerOffset()), again);
                }
            }

            // then every reader gets the transactions that end at or behind its start and begin before its end
            long fromOffset = random.nextInt((int) markerOffset + 2);
            long toOffset = fromOffset + 1 + random.nextInt(60);
            List<AbortedTransaction> expected = all.subList(0, count + 1).stream()
                    .filter(one -> one.markerOffset() >= fromOffset && one.firstOffset() < toOffset)
                    .toList();
            assertThat(index.find(fromOffset, toOffset)).isEqualTo(expected);
            List<AbortedTransaction> withoutDisk = index.findInMemory(fromOffset, toOffset);
            assertThat(withoutDisk == null ? expected : withoutDisk).isEqualTo(expected);
        }
    }

    private static long segmentOf(List<Long> segments, long offset) {
        return segments.stream().filter(base -> base <= offset).reduce(0L, Math::max);
    }

    private static List<AbortedTransaction> transactions(Random random) {
        long[] firsts = new long[TRANSACTIONS];
        long[] markers = new long[TRANSACTIONS];
        long offset = 0;
        for (int i = 0; i < TRANSACTIONS; i++) {
            offset += 1 + random.nextInt(5);
            markers[i] = offset;
            firsts[i] = Math.max(0, offset - 1 - random.nextInt(30));
        }
        List<AbortedTransaction> all = new ArrayList<>();
        long oldestOpen = Long.MAX_VALUE;
        for (int i = TRANSACTIONS - 1; i >= 0; i--) {
            all.add(0, new AbortedTransaction(i, firsts[i], markers[i], Math.min(markers[i] + 1, oldestOpen)));
            oldestOpen = Math.min(oldestOpen, firsts[i]);
        }
        return all;
    }

    @Test
    void shouldForgetWhatTheJournalHasNoMore() throws IOException {
        // given three segments with one transaction each
        AbortedTransaction first = new AbortedTransaction(1, 5, 9, 10);
        AbortedTransaction second = new AbortedTransaction(2, 15, 19, 20);
        AbortedTransaction third = new AbortedTransaction(3, 25, 29, 30);
        index.add(0, first);
        index.add(10, second);
        index.add(20, third);
        index.save();

        // when retention deletes the first segment
        index.deleteAll(index.dropBefore(10));

        // then the rest is there
        assertThat(index.find(0, 100)).containsExactly(second, third);

        // and when the tail is lost, so is its transaction, whose marker may be written again at another offset
        index.truncateTo(29);
        assertThat(index.find(0, 100)).containsExactly(second);
        AbortedTransaction again = new AbortedTransaction(3, 25, 31, 32);
        index.add(20, again);
        assertThat(index.find(0, 100)).containsExactly(second, again);
    }

    @Test
    void shouldDropWhatCompactionTakesAwayForGood() throws IOException {
        // given
        AbortedTransaction first = new AbortedTransaction(1, 5, 9, 10);
        AbortedTransaction second = new AbortedTransaction(2, 11, 14, 15);
        index.add(0, first);
        index.add(0, second);
        index.save();

        // when
        index.remove(new TreeSet<>(List.of(9L)));

        // then also for readers of the files
        assertThat(index.find(0, 100)).containsExactly(second);
        TransactionIndex restarted = new TransactionIndex(store, DIRECTORY);
        assertThat(restarted.restore(List.of(0L), 100, 0)).isTrue();
        assertThat(restarted.find(0, 100)).containsExactly(second);
    }

    @Test
    void shouldBeOfNoUseWhenAFileIsMissing() throws IOException {
        assertThat(index.restore(List.of(0L), 100, 0)).isFalse();
        assertThat(index.isEmpty()).isTrue();
    }
}
