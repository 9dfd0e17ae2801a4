package io.journalq.server.metadata.index;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.TopicImage;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An index of topics: compared with a sorted map, and what a change of it costs. */
class SortedIndexTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int STEPS = 5_000;
    private static final int NAMES = 2_000;

    private static TopicImage topic(String name, long id) {
        return new TopicImage(name, new Uuid(1, id), List.of(), Map.of());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldContainWhatASortedMapContainsAfterEveryChange(long seed) {
        Random random = new Random(seed);
        TreeMap<String, TopicImage> expected = new TreeMap<>();
        SortedIndex<String, TopicImage> index = SortedIndex.by(TopicImage::name);
        for (int step = 0; step < STEPS; step++) {
            // The first half mostly adds, the second half mostly removes.
            String name = "topic-" + random.nextInt(NAMES);
            boolean adds = random.nextInt(10) < (step < STEPS / 2 ? 9 : 1);
            SortedIndex<String, TopicImage> before = index;
            int sizeBefore = before.size();
            if (adds) {
                TopicImage topic = topic(name, step);
                expected.put(name, topic);
                index = index.with(topic);
            } else {
                expected.remove(name);
                index = index.without(name);
            }

            assertThat(index.find(name)).isEqualTo(expected.get(name));
            assertThat(index.size()).isEqualTo(expected.size());
            assertThat(before).as("the copied index").hasSize(sizeBefore);
            if (step % 100 == 0) {
                assertThat(index).containsExactlyElementsOf(expected.values());
            }
        }
        for (String name : List.copyOf(expected.keySet())) {
            index = index.without(name);
        }
        assertThat(index).isEmpty();
    }

    @Test
    void shouldCopyNoMoreForAChangeWhenThereAreMoreTopics() {
        long ofFew = bytesOfAChange(1_000);
        long ofMany = bytesOfAChange(50_000);

        assertThat(ofMany)
                .as("1,000 topics: %d bytes", ofFew)
                .isLessThan(ofFew + 8 * 50_000 / (SortedIndex.MAX_BLOCK_SIZE / 2));
    }

    /** The bytes that one change of an index with {@code count} topics allocates. */
    private static long bytesOfAChange(int count) {
        SortedIndex<Uuid, TopicImage> index = SortedIndex.by(TopicImage::id);
        for (int id = 0; id < count; id++) {
            index = index.with(topic("topic", id));
        }
        TopicImage changed = topic("changed", count / 2);
        index.with(changed);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        index.with(changed);
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
}
