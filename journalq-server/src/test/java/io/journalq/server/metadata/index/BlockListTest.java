package io.journalq.server.metadata.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockListTest {
    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 64, 65, 128, 129, 1_000})
    void shouldHaveTheElementsOfItsOriginal(int count) {
        List<Integer> copy = BlockList.copyOf(new ArrayList<>(numbers(count)));

        assertThat(copy).isEqualTo(numbers(count)).hasSameHashCodeAs(numbers(count));
        assertThat(numbers(count)).isEqualTo(copy);
        assertThat(BlockList.copyOf(copy)).isSameAs(copy);
        assertThatThrownBy(() -> copy.add(1)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> copy.get(count)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldChangeOnlyTheCopyWhenRandomChangesAreMade() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Integer> expected = new ArrayList<>(numbers(random.nextInt(200)));
        List<Integer> list = BlockList.copyOf(expected);
        for (int change = 0; change < 300; change++) {
            List<Integer> before = new ArrayList<>(expected);
            BlockList.Editor<Integer> editor = BlockList.edit(list);
            for (int i = random.nextInt(5); i >= 0; i--) {
                if (expected.isEmpty() || random.nextInt(3) == 0) {
                    editor.add(-change);
                    expected.add(-change);
                } else {
                    int index = random.nextInt(expected.size());
                    editor.set(index, change);
                    expected.set(index, change);
                    assertThat(editor.get(index)).isEqualTo(change);
                }
                assertThat(editor.size()).isEqualTo(expected.size());
            }
            List<Integer> changed = editor.build();

            assertThat(list).as("seed %d", seed).isEqualTo(before);
            assertThat(changed).as("seed %d", seed).isEqualTo(expected);
            assertThat(changed.equals(list)).as("seed %d", seed).isEqualTo(expected.equals(before));
            list = changed;
        }
    }

    @Test
    void shouldDifferWhenOneElementOfManyDiffers() {
        List<Integer> list = BlockList.copyOf(numbers(1_000));
        BlockList.Editor<Integer> editor = BlockList.edit(list);
        editor.set(999, -1);
        List<Integer> changed = editor.build();
        BlockList.Editor<Integer> restoring = BlockList.edit(changed);
        restoring.set(999, 999);

        assertThat(changed).isNotEqualTo(list);
        assertThat(restoring.build()).isEqualTo(list);
        assertThat(BlockList.copyOf(numbers(999))).isNotEqualTo(list);
    }

    @Test
    void shouldRefuseNullAndPositionsBehindTheEnd() {
        BlockList.Editor<Integer> editor = BlockList.edit(BlockList.copyOf(numbers(100)));

        assertThatThrownBy(() -> editor.set(100, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> editor.set(5, null)).isInstanceOf(NullPointerException.class);
    }
}
