package io.journalq.server.metadata;

import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * Topics in ascending order of a unique key. Immutable, any thread. A changed copy shares all blocks with the original
 * except one, so a change does not cost more when there are more topics. It copies one block and the list of blocks.
 */
final class TopicIndex<K extends Comparable<K>> extends AbstractCollection<TopicImage> {
    /** A change copies up to 2 KiB for the block, and 8 KiB for the list of blocks of 100,000 topics. */
    static final int MAX_BLOCK_SIZE = 256;

    private final Function<TopicImage, K> key;
    private final TopicImage[][] blocks;
    private final int size;

    private TopicIndex(Function<TopicImage, K> key, TopicImage[][] blocks, int size) {
        this.key = key;
        this.blocks = blocks;
        this.size = size;
    }

    /** An index without topics. */
    static <K extends Comparable<K>> TopicIndex<K> by(Function<TopicImage, K> key) {
        return new TopicIndex<>(key, new TopicImage[0][], 0);
    }

    /** The topic with this key, or null. */
    TopicImage find(K wanted) {
        int block = blockOf(wanted);
        int position = block < 0 ? -1 : positionOf(blocks[block], wanted);
        return position < 0 ? null : blocks[block][position];
    }

    /** A copy with {@code topic}, which replaces the topic that has its key. */
    TopicIndex<K> with(TopicImage topic) {
        K wanted = key.apply(topic);
        if (size == 0) {
            return new TopicIndex<>(key, new TopicImage[][] {{topic}}, 1);
        }
        int block = Math.max(0, blockOf(wanted));
        TopicImage[] old = blocks[block];
        int position = positionOf(old, wanted);
        if (position >= 0) {
            TopicImage[] replaced = old.clone();
            replaced[position] = topic;
            return new TopicIndex<>(key, splice(blocks, block, replaced), size);
        }
        TopicImage[] grown = new TopicImage[old.length + 1];
        int insertion = -position - 1;
        System.arraycopy(old, 0, grown, 0, insertion);
        grown[insertion] = topic;
        System.arraycopy(old, insertion, grown, insertion + 1, old.length - insertion);
        int half = grown.length / 2;
        TopicImage[][] changed = grown.length <= MAX_BLOCK_SIZE
                ? splice(blocks, block, grown)
                : splice(blocks, block, Arrays.copyOf(grown, half), Arrays.copyOfRange(grown, half, grown.length));
        return new TopicIndex<>(key, changed, size + 1);
    }

    /** A copy without the topic that has this key. */
    TopicIndex<K> without(K unwanted) {
        int block = blockOf(unwanted);
        int position = block < 0 ? -1 : positionOf(blocks[block], unwanted);
        if (position < 0) {
            return this;
        }
        TopicImage[] old = blocks[block];
        if (old.length == 1) {
            return new TopicIndex<>(key, splice(blocks, block), size - 1);
        }
        TopicImage[] shrunk = new TopicImage[old.length - 1];
        System.arraycopy(old, 0, shrunk, 0, position);
        System.arraycopy(old, position + 1, shrunk, position, shrunk.length - position);
        return new TopicIndex<>(key, splice(blocks, block, shrunk), size - 1);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public Iterator<TopicImage> iterator() {
        return new Iterator<>() {
            private int block;
            private int position;

            @Override
            public boolean hasNext() {
                return block < blocks.length;
            }

            @Override
            public TopicImage next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                TopicImage topic = blocks[block][position++];
                if (position == blocks[block].length) {
                    block++;
                    position = 0;
                }
                return topic;
            }
        };
    }

    /** A copy of {@code blocks} with {@code replacements} instead of the block at {@code index}. */
    private static TopicImage[][] splice(TopicImage[][] blocks, int index, TopicImage[]... replacements) {
        TopicImage[][] changed = new TopicImage[blocks.length - 1 + replacements.length][];
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
            if (key.apply(blocks[middle][0]).compareTo(wanted) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /** The position of a key in a block; otherwise {@code -1 - position} of its insertion. */
    private int positionOf(TopicImage[] block, K wanted) {
        int low = 0;
        int high = block.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = key.apply(block[middle]).compareTo(wanted);
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
