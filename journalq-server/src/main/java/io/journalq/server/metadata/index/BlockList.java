package io.journalq.server.metadata.index;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/**
 * An immutable list. A changed copy shares all blocks with the original except those with changes, so the change of one
 * element copies one block and the list of blocks. Short lists are ordinary ones. Any thread.
 */
public final class BlockList<E> extends AbstractList<E> implements RandomAccess {
    /** A change copies up to 0.5 KiB for the block, and 1.3 KiB for the list of blocks of 10,000 elements. */
    static final int BLOCK_SIZE = 64;

    private final Object[][] blocks;
    private final int size;

    private BlockList(Object[][] blocks, int size) {
        this.blocks = blocks;
        this.size = size;
    }

    /** An immutable list with these elements, without null; the same object if it is one already. */
    public static <E> List<E> copyOf(List<E> elements) {
        if (elements instanceof BlockList<E>) {
            return elements;
        }
        return elements.size() <= BLOCK_SIZE
                ? List.copyOf(elements)
                : edit(elements).build();
    }

    /** Begins a changed copy. */
    public static <E> Editor<E> edit(List<E> original) {
        if (original instanceof BlockList<E> list) {
            return new Editor<>(list.blocks.clone(), list.size);
        }
        Editor<E> editor = new Editor<>(new Object[0][], 0);
        original.forEach(editor::add);
        return editor;
    }

    /** A copy that is being changed. One thread. */
    public static final class Editor<E> {
        private Object[][] blocks;
        /** Whether a block is shared with no list. */
        private boolean[] copied;

        private int size;

        private Editor(Object[][] blocks, int size) {
            this.blocks = blocks;
            this.copied = new boolean[blocks.length];
            this.size = size;
        }

        public int size() {
            return size;
        }

        /** The element at {@code index}. */
        public E get(int index) {
            return element(blocks[Objects.checkIndex(index, size) / BLOCK_SIZE][index % BLOCK_SIZE]);
        }

        /** The element of a block, which contains only elements. */
        @SuppressWarnings("unchecked")
        private E element(Object element) {
            return (E) element;
        }

        /** Replaces an element. */
        public void set(int index, E element) {
            put(Objects.checkIndex(index, size), element);
        }

        /** Appends an element. */
        public void add(E element) {
            if (size == blocks.length * BLOCK_SIZE) {
                blocks = Arrays.copyOf(blocks, blocks.length + 1);
                blocks[blocks.length - 1] = new Object[BLOCK_SIZE];
                copied = Arrays.copyOf(copied, blocks.length);
                copied[blocks.length - 1] = true;
            }
            put(size++, element);
        }

        private void put(int index, E element) {
            int block = index / BLOCK_SIZE;
            if (!copied[block]) {
                blocks[block] = blocks[block].clone();
                copied[block] = true;
            }
            blocks[block][index % BLOCK_SIZE] = Objects.requireNonNull(element);
        }

        /** The changed copy. The editor is of no use afterwards. */
        public List<E> build() {
            BlockList<E> list = new BlockList<>(blocks, size);
            blocks = new Object[0][];
            copied = new boolean[0];
            size = 0;
            return list.size <= BLOCK_SIZE ? List.copyOf(list) : list;
        }
    }

    @Override
    public E get(int index) {
        return element(blocks[Objects.checkIndex(index, size) / BLOCK_SIZE][index % BLOCK_SIZE]);
    }

    /** The element of a block, which contains only elements. */
    @SuppressWarnings("unchecked")
    private E element(Object element) {
        return (E) element;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof BlockList<?> list)) {
            return super.equals(other);
        }
        if (size != list.size) {
            return false;
        }
        for (int block = 0; block < blocks.length; block++) {
            // Most blocks are shared.
            if (blocks[block] != list.blocks[block] && !Arrays.equals(blocks[block], list.blocks[block])) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return super.hashCode();
    }
}
