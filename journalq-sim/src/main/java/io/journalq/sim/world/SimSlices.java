package io.journalq.sim.world;

import io.journalq.common.id.Uuid;
import io.journalq.server.store.CoordinatorSlice;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.CrashKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * The stored state of coordinators, as a database keeps it whose log is not fsynced. A kill loses nothing. A power loss
 * loses the newest changes, from a random one on.
 */
public final class SimSlices implements CoordinatorSlice.Provider {
    private final Random random;
    private final SimDisk disk;
    private final int failureOdds;
    private final Map<Key, Slice> slices = new LinkedHashMap<>();
    private final List<Runnable> unsynced = new ArrayList<>();

    private record Key(Uuid topicId, int partition) {}

    /** @param failureOdds a change fails with a probability of 1 / failureOdds; 0 for never */
    public SimSlices(Random random, SimDisk disk, int failureOdds) {
        this.random = random;
        this.disk = disk;
        this.failureOdds = failureOdds;
    }

    @Override
    public CoordinatorSlice slice(Uuid topicId, int partition) {
        return slices.computeIfAbsent(new Key(topicId, partition), key -> new Slice());
    }

    /** The process is started again after a crash. */
    public void restart(CrashKind kind) {
        int kept = kind == CrashKind.KILL ? unsynced.size() : random.nextInt(unsynced.size() + 1);
        unsynced.subList(0, kept).forEach(Runnable::run);
        unsynced.clear();
        slices.values().forEach(Slice::reopen);
    }

    private void enter() throws IOException {
        if (disk.isDead()) {
            throw new SimDisk.Crash();
        }
        if (failureOdds > 0 && random.nextInt(failureOdds) == 0) {
            throw new IOException("Input/output error in the coordinator store");
        }
    }

    private static final class State {
        private final TreeMap<ByteBuffer, byte[]> records = new TreeMap<>();
        private long appliedOffset = CoordinatorSlice.NOTHING;
        private int appliedEpoch = CoordinatorSlice.UNKNOWN_EPOCH;

        void apply(List<CoordinatorSlice.Change> changes, long offset, int epoch) {
            for (CoordinatorSlice.Change change : changes) {
                if (change.value() == null) {
                    records.remove(ByteBuffer.wrap(change.key()));
                } else {
                    records.put(ByteBuffer.wrap(change.key()), change.value());
                }
            }
            appliedOffset = offset;
            appliedEpoch = epoch;
        }

        void clear() {
            records.clear();
            appliedOffset = CoordinatorSlice.NOTHING;
            appliedEpoch = CoordinatorSlice.UNKNOWN_EPOCH;
        }

        void copy(State other) {
            clear();
            records.putAll(other.records);
            appliedOffset = other.appliedOffset;
            appliedEpoch = other.appliedEpoch;
        }
    }

    private final class Slice implements CoordinatorSlice {
        private final State shown = new State();
        private final State onDisk = new State();

        void reopen() {
            shown.copy(onDisk);
        }

        @Override
        public long appliedOffset() throws IOException {
            enter();
            return shown.appliedOffset;
        }

        @Override
        public int appliedEpoch() throws IOException {
            enter();
            return shown.appliedEpoch;
        }

        @Override
        public void forEach(Visitor visitor) throws IOException {
            enter();
            shown.records.forEach((key, value) -> visitor.visit(key.duplicate(), ByteBuffer.wrap(value)));
        }

        @Override
        public void apply(List<CoordinatorSlice.Change> changes, long appliedOffset, int appliedEpoch)
                throws IOException {
            enter();
            shown.apply(changes, appliedOffset, appliedEpoch);
            unsynced.add(() -> onDisk.apply(changes, appliedOffset, appliedEpoch));
        }

        @Override
        public void wipe() throws IOException {
            enter();
            shown.clear();
            unsynced.forEach(Runnable::run); // All slices share one log, and this change is fsynced.
            unsynced.clear();
            onDisk.clear();
        }
    }
}
