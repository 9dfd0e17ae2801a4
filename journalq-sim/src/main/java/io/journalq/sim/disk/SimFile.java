package io.journalq.sim.disk;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** The content of one file, twice: as the page cache holds it, and as the disk holds it. */
final class SimFile implements SimDisk.Node {
    private final Bytes cached = new Bytes();
    private final Bytes onDisk = new Bytes();
    private final List<Change> unsynced = new ArrayList<>();

    /**
     * A change that has not been fsynced.
     *
     * @param data the written bytes; null for a new size
     * @param position position of the bytes, or the new size
     */
    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    private record Change(byte[] data, int position) {}

    int sizeBytes() {
        return cached.size();
    }

    /** Copies bytes from {@code position} on into {@code target}. Returns how many. */
    int read(ByteBuffer target, long position) {
        return cached.read(target, position);
    }

    /** The whole content. */
    byte[] content() {
        return cached.toArray();
    }

    void write(byte[] data, int position) {
        cached.write(data, position);
        unsynced.add(new Change(data, position));
    }

    void truncate(int sizeBytes) {
        cached.resize(sizeBytes);
        unsynced.add(new Change(null, sizeBytes));
    }

    int unsyncedCount() {
        return unsynced.size();
    }

    /** Writes the oldest {@code count} changes to the disk. */
    void sync(int count) {
        List<Change> oldest = unsynced.subList(0, Math.min(count, unsynced.size()));
        oldest.forEach(this::apply);
        oldest.clear();
    }

    /**
     * Writes a random part of the changes to the disk. The others are never written, but stay visible in the page
     * cache.
     */
    void failSync(Random random) {
        for (Change change : unsynced) {
            if (random.nextBoolean()) {
                apply(change);
            }
        }
        unsynced.clear();
    }

    /** Misdirects the last change: on the disk, it overwrites another position of this file. */
    void misdirectLast(Random random) {
        Change last = unsynced.remove(unsynced.size() - 1);
        if (last.data() != null && onDisk.size() > 0) {
            int wrongPosition = random.nextInt(onDisk.size());
            int count = Math.min(last.data().length, onDisk.size() - wrongPosition);
            apply(new Change(Arrays.copyOf(last.data(), count), wrongPosition));
        }
    }

    private void apply(Change change) {
        if (change.data() == null) {
            onDisk.resize(change.position());
        } else {
            onDisk.write(change.data(), change.position());
        }
    }

    @Override
    public void losePower(Random random) {
        switch (random.nextInt(6)) {
            case 0 -> {}
            case 1 -> unsynced.forEach(this::apply);
            case 2, 3 -> applyPrefix(random);
            default -> applySome(random);
        }
        unsynced.clear();
        cached.copy(onDisk);
    }

    private void applyPrefix(Random random) {
        int whole = random.nextInt(unsynced.size() + 1);
        for (int i = 0; i < whole; i++) {
            apply(unsynced.get(i));
        }
        if (whole < unsynced.size()) {
            applyTorn(unsynced.get(whole), random);
        }
    }

    private void applySome(Random random) {
        List<Change> order = new ArrayList<>(unsynced);
        if (random.nextBoolean()) {
            Collections.shuffle(order, random);
        }
        for (Change change : order) {
            switch (random.nextInt(4)) {
                case 0 -> {}
                case 1 -> applyTorn(change, random);
                default -> apply(change);
            }
        }
    }

    /** Writes any part of a change. The file may get its new size before its content. */
    private void applyTorn(Change change, Random random) {
        if (change.data() == null || change.data().length == 0) {
            return;
        }
        int length = change.data().length;
        if (random.nextInt(4) == 0) {
            onDisk.resize(Math.max(onDisk.size(), change.position() + length));
        }
        int from = random.nextBoolean() ? 0 : random.nextInt(length);
        int to = from + random.nextInt(length - from + 1);
        apply(new Change(Arrays.copyOfRange(change.data(), from, to), change.position() + from));
    }

    /**
     * Flips one bit of the content.
     *
     * @return position of its byte; -1 if the file is empty
     */
    int flipBit(Random random) {
        if (cached.size() == 0) {
            return -1;
        }
        int at = random.nextInt(cached.size());
        flipBit(at, random.nextInt(Byte.SIZE));
        return at;
    }

    /** Flips a bit of the byte at {@code at}. */
    void flipBit(int at, int bit) {
        cached.flipBit(at, bit);
        byte[] flipped = {cached.toArray()[at]};
        if (unsynced.isEmpty()) {
            onDisk.write(flipped, at);
        } else {
            unsynced.add(new Change(flipped, at)); // The flip comes after the writes that are still due.
        }
    }
}
