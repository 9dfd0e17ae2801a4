package io.journalq.server.metadata.index;

import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * Values in ascending order of a unique key. Immutable, any thread. A changed copy shares all blocks with the original
 * except one, so a change does not cost more when there are more values. It copies one block and the list of blocks.
 *
 * @param <K> the key that each value contains
 */
public final class SortedIndex<K extends Comparable<K>, V> extends AbstractCollection<V> {
    /** A change copies up to 2 KiB for the block, and 8 KiB for the list of blocks of 100,000 values. */
    static final int MAX_BLOCK_SIZE = 256;

    private final Function<V, K> key;
    private final Object[][] blocks;
    private final int size;

    private SortedIndex(Function<V, K> key, Object[][] blocks, int size) {
        this.key = key;
        this.blocks = blocks;
        this.size = size;
    }

    /** An index without values. */
    public static <K extends Comparable<K>, V> SortedIndex<K, V> by(Function<V, K> key) {
        return new SortedIndex<>(key, new Object[0][], 0);
    }

    /** The value with this key, or null. */
    public V find(K wanted) {
        int block = blockOf(wanted);
        int position = block < 0 ? -1 : positionOf(blocks[block], wanted);
        return position < 0 ? null : value(blocks[block][position]);
    }

    /** A copy with {@code value}, which replaces the value that has its key. */
    public SortedIndex<K, V> with(V value) {
        K wanted = key.apply(value);
        if (size == 0) {
            return new SortedIndex<>(key, new Object[][] {{value}}, 1);
        }
        int block = Math.max(0, blockOf(wanted));
        Object[] old = blocks[block];
        int position = positionOf(old, wanted);
        if (position >= 0) {
            Object[] replaced = old.clone();
            replaced[position] = value;
            return new SortedIndex<>(key, splice(blocks, block, replaced), size);
        }
        Object[] grown = new Object[old.length + 1];
        int insertion = -position - 1;
        System.arraycopy(old, 0, grown, 0, insertion);
        grown[insertion] = value;
        System.arraycopy(old, insertion, grown, insertion + 1, old.length - insertion);
        int half = grown.length / 2;
        Object[][] changed = grown.length <= MAX_BLOCK_SIZE
                ? splice(blocks, block, grown)
                : splice(blocks, block, Arrays.copyOf(grown, half), Arrays.copyOfRange(grown, half, grown.length));
        return new SortedIndex<>(key, changed, size + 1);
    }

    /** A copy without the value that has this key. */
    public SortedIndex<K, V> without(K unwanted) {
        int block = blockOf(unwanted);
        int position = block < 0 ? -1 : positionOf(blocks[block], unwanted);
        if (position < 0) {
            return this;
        }
        Object[] old = blocks[block];
        if (old.length == 1) {
            return new SortedIndex<>(key, splice(blocks, block), size - 1);
        }
        Object[] shrunk = new Object[old.length - 1];
        System.arraycopy(old, 0, shrunk, 0, position);
        System.arraycopy(old, position + 1, shrunk, position, shrunk.length - position);
        return new SortedIndex<>(key, splice(blocks, block, shrunk), size - 1);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public Iterator<V> iterator() {
        return new Iterator<>() {
            private int block;
            private int position;

            @Override
            public boolean hasNext() {
                return block < blocks.length;
            }

            @Override
            public V next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                V value = value(blocks[block][position++]);
                if (position == blocks[block].length) {
                    block++;
                    position = 0;
                }
                return value;
            }
        };
    }

    private K keyOf(Object element) {
        return key.apply(value(element));
    }

    /** An element of a block, which contains only values. */
    @SuppressWarnings("unchecked")
    private V value(Object element) {
        return (V) element;
    }

    /** A copy of {@code blocks} with {@code replacements} instead of the block at {@code index}. */
    private static Object[][] splice(Object[][] blocks, int index, Object[]... replacements) {
        Object[][] changed = new Object[blocks.length - 1 + replacements.length][];
        System.arraycopy(blocks, 0, changed, 0, index);
        System.arraycopy(replacements, 0, changed, index, replacements.length);
        System.arraycopy(blocks, index + 1, changed, index + replacements.length, blocks.length - index - 1);
        return changed;
    }

    /** The last block that does not begin behind the key; -1 if all do. */
    private int blockOf(K wanted) {
        int low = 0;
        int high = blocks.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (keyOf(blocks[middle][0]).compareTo(wanted) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /** The position of a key in a block; otherwise {@code -1 - position} of its insertion. */
    private int positionOf(Object[] block, K wanted) {
        int low = 0;
        int high = block.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = keyOf(block[middle]).compareTo(wanted);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1 - low;
    }
}
