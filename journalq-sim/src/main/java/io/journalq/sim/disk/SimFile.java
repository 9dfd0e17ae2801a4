package io.journalq.sim.disk;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** The content of one file, twice: as the page cache holds it, and as the disk does. */
final class SimFile implements SimDisk.Node {
    private final Bytes cached = new Bytes();
    private final Bytes onDisk = new Bytes();
    private final List<Change> unsynced = new ArrayList<>();

    /**
     * A change that has not been synced.
     *
     * @param data what was written; null for a new size
     * @param position where, or the new size
     */
    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    private record Change(byte[] data, int position) {}

    int sizeBytes() {
        return cached.size();
    }

    /** Puts into {@code target} what is there from {@code position} on; returns how many bytes. */
    int read(ByteBuffer target, long position) {
        return cached.read(target, position);
    }

    /** All that is there. */
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

    /** The oldest {@code count} changes reach the disk. */
    void sync(int count) {
        List<Change> oldest = unsynced.subList(0, Math.min(count, unsynced.size()));
        oldest.forEach(this::apply);
        oldest.clear();
    }

    /** Some of the changes reach the disk; the others never will, though the page cache goes on to show them. */
    void failSync(Random random) {
        for (Change change : unsynced) {
            if (random.nextBoolean()) {
                apply(change);
            }
        }
        unsynced.clear();
    }

    /** The last change goes astray: on the disk it overwrites another place of this file. */
    void misdirectLast(Random random) {
        Change last = unsynced.remove(unsynced.size() - 1);
        if (last.data() != null && onDisk.size() > 0) {
            int elsewhere = random.nextInt(onDisk.size());
            int count = Math.min(last.data().length, onDisk.size() - elsewhere);
            apply(new Change(Arrays.copyOf(last.data(), count), elsewhere));
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

    /** Any stretch of a write; the file's new size may be there before its content. */
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
     * Flips one bit of what the file shows.
     *
     * @return which byte; -1 when there is none
     */
    int flipBit(Random random) {
        if (cached.size() == 0) {
            return -1;
        }
        int at = random.nextInt(cached.size());
        cached.flipBit(at, random.nextInt(Byte.SIZE));
        byte[] flipped = {cached.toArray()[at]};
        if (unsynced.isEmpty()) {
            onDisk.write(flipped, at);
        } else {
            unsynced.add(new Change(flipped, at)); // It comes after what is to be written there.
        }
        return at;
    }
}
