package io.journalq.sim;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.CrashKind;
import io.journalq.sim.world.Interference;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimClock;
import io.journalq.sim.world.SimFollower;
import io.journalq.sim.world.SimProcess;
import io.journalq.sim.world.Violations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Runs one seed of a follower: runs of batches are appended to logs that share write-ahead files, the logs are truncated
 * and reset at any moment, and the follower crashes. After each start, each log has to be a prefix of what it was:
 * nothing below the last truncation is lost, and nothing above it comes back. The seed determines everything. One
 * thread.
 */
final class FollowerLogs implements SimDisk.Surroundings {
    private static final Path DATA = Path.of("follower");
    private static final int[] SEGMENT_SIZES = {300, 1_000, 10_000};
    private static final int[] WRITE_AHEAD_SIZES = {8 << 10, 32 << 10, 128 << 10};
    private static final int MOST_STEPS = 60;
    private static final int CHANGES_IN_A_LIFE = 300;
    private static final int CHANGES_IN_A_START = 30;
    private static final int MOST_CRASHED_STARTS = 3;
    private static final int MOST_EVENTS_BETWEEN_STEPS = 8;

    private final long seed;
    private final Random random;
    private final Scheduler scheduler;
    private final SimProcess process;
    private final SimDisk disk;
    private final Violations violations = new Violations();
    private final Interference interference;
    private final SimFollower.Plan plan;
    private final List<Model> models = new ArrayList<>();
    private SimFollower follower;
    private int crashes;
    private long appended;

    /** A batch, recognized by its checksum. */
    private record Batch(long baseOffset, long nextOffset, int epoch, int crc) {}

    /** What one log must have after a crash. */
    private static final class Model {
        private static final long NONE = -1;

        private final List<Batch> batches = new ArrayList<>();
        private final Set<Batch> removed = new HashSet<>();
        private long startOffset;
        /** Everything before this is written. Later batches may be. */
        private long writtenOffset;

        private long durableOffset;
        private int epoch;
        /** The offset to which the log is being truncated. */
        private long truncatesTo = NONE;
        /** The offset to which the log is being reset. */
        private long resetsTo = NONE;

        long endOffset() {
            return batches.isEmpty()
                    ? startOffset
                    : batches.get(batches.size() - 1).nextOffset();
        }

        void truncateTo(long offset) {
            while (endOffset() > offset && !batches.isEmpty()) {
                removed.add(batches.remove(batches.size() - 1));
            }
            writtenOffset = Math.min(writtenOffset, endOffset());
            durableOffset = Math.min(durableOffset, endOffset());
        }

        void resetTo(long offset) {
            truncateTo(startOffset);
            startOffset = offset;
            writtenOffset = offset;
            durableOffset = offset;
        }

        /** Everything before the result must have survived. */
        long keptOffset(CrashKind crash) {
            long kept = crash == CrashKind.KILL ? writtenOffset : durableOffset;
            if (truncatesTo == NONE) {
                return kept;
            }
            long cut = startOffset;
            for (Batch batch : batches) {
                cut = batch.nextOffset() <= truncatesTo ? batch.nextOffset() : cut;
            }
            return Math.min(kept, cut);
        }
    }

    private FollowerLogs(long seed, Interference interference) {
        this.seed = seed;
        this.interference = interference;
        this.random = new Random(seed);
        this.scheduler = new Scheduler(random);
        this.process = scheduler.newProcess(new SimClock(scheduler));
        this.disk = new SimDisk(random, this);
        JournalConfig config = JournalConfig.DEFAULT
                .withSegmentSizeBytes(SEGMENT_SIZES[random.nextInt(SEGMENT_SIZES.length)])
                .withIndexIntervalBytes(1 + random.nextInt(500))
                .withCheckpointIntervalBytes(1 + random.nextInt(3_000));
        int writeAheadBytes = WRITE_AHEAD_SIZES[random.nextInt(WRITE_AHEAD_SIZES.length)];
        this.plan = new SimFollower.Plan(disk, DATA, 1 + random.nextInt(3), config, writeAheadBytes);
        for (int i = 0; i < plan.count(); i++) {
            models.add(new Model());
        }
    }

    /** Runs one seed to its end, or to the first violation. */
    static SimResult run(long seed, Interference interference) {
        FollowerLogs simulation = new FollowerLogs(seed, interference);
        Defects.listen(simulation.violations);
        try {
            simulation.run();
        } catch (IOException | RuntimeException | AssertionError defect) {
            simulation.violations.report("NoDefects", Defects.describe(defect));
        }
        return simulation.result();
    }

    private SimResult result() {
        return new SimResult(
                seed,
                scheduler.trace().hash(),
                scheduler.trace().events(),
                crashes,
                appended,
                Map.of(),
                violations.found());
    }

    private void run() throws IOException {
        disk.createDurableDirectories(DATA);
        CrashKind crash = CrashKind.KILL;
        for (int life = 2 + random.nextInt(5); life > 0 && violations.isEmpty(); life--) {
            crash = start(crash);
            for (int i = 0; i < models.size() && violations.isEmpty(); i++) {
                check(i, crash);
            }
            if (violations.isEmpty()) {
                live();
                crash = crash();
            }
        }
    }

    /** Starts the follower. Starts may crash too. Returns the worst crash since the last life. */
    private CrashKind start(CrashKind lastCrash) throws IOException {
        CrashKind worst = lastCrash;
        for (int tries = 0; ; tries++) {
            if (tries < MOST_CRASHED_STARTS && random.nextInt(5) == 0) {
                disk.crashAfter(1L + random.nextInt(CHANGES_IN_A_START));
            }
            try {
                follower = SimFollower.start(plan, process, random, interference);
                disk.crashNever();
                return worst;
            } catch (SimDisk.Crash crashed) {
                worst = crash() == CrashKind.POWER_LOSS ? CrashKind.POWER_LOSS : worst;
            }
        }
    }

    private CrashKind crash() {
        CrashKind kind = random.nextInt(3) > 0 ? CrashKind.POWER_LOSS : CrashKind.KILL;
        crashes++;
        disk.die();
        scheduler.clear();
        scheduler.trace().add(kind == CrashKind.POWER_LOSS ? 1 : 0, disk.changes());
        disk.restart(kind);
        return kind;
    }

    private void live() throws IOException {
        if (random.nextInt(3) > 0) {
            disk.crashAfter(1L + random.nextInt(CHANGES_IN_A_LIFE));
        }
        for (int step = random.nextInt(MOST_STEPS); step > 0 && !isOver(); step--) {
            int index = random.nextInt(models.size());
            follower.onLoop(() -> change(index));
            for (int i = random.nextInt(MOST_EVENTS_BETWEEN_STEPS); i > 0 && scheduler.step(); i--) {
                noteDurable();
            }
        }
        if (!isOver() && random.nextInt(4) == 0) {
            stop();
        }
    }

    private boolean isOver() {
        return scheduler.isStopped() || disk.isDead() || !violations.isEmpty();
    }

    private void stop() throws IOException {
        try {
            follower.stop();
        } catch (SimDisk.Crash crashed) {
            scheduler.stop();
        }
    }

    /** What a follower has told its leader to be durable must survive. */
    private void noteDurable() {
        for (int i = 0; i < models.size(); i++) {
            Model model = models.get(i);
            if (model.truncatesTo == Model.NONE && model.resetsTo == Model.NONE) {
                model.durableOffset =
                        Math.max(model.durableOffset, follower.logs().get(i).durableOffset());
            }
        }
    }

    private void change(int index) {
        Model model = models.get(index);
        SimFollower.Log log = follower.logs().get(index);
        try {
            switch (random.nextInt(12)) {
                case 0, 1 -> truncate(model, log);
                case 2 -> reset(model, log);
                case 3 -> follower.changeMode(log);
                case 4 -> log.journal().flush();
                default -> append(model, log);
            }
        } catch (IOException failure) {
            violations.report("NoDefects", Defects.describe(failure));
        }
    }

    private void append(Model model, SimFollower.Log log) throws IOException {
        model.epoch += random.nextInt(5) == 0 ? 1 : 0;
        ByteBuf run = Unpooled.buffer();
        // No gaps, as compaction leaves them: recovery takes one before the last batch of a log for a damaged offset.
        long offset = log.journal().endOffset();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            ByteBuf batch = batch(offset, model.epoch);
            Batch added = batchAt(batch, 0);
            model.batches.add(added);
            offset = added.nextOffset();
            run.writeBytes(batch);
            batch.release();
            appended++;
        }
        log.journal().appendRun(run, model.epoch);
        run.release();
        follower.write(log);
        model.writtenOffset = offset;
    }

    private ByteBuf batch(long baseOffset, int epoch) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                byte[] value = new byte[8 + random.nextInt(100)];
                random.nextBytes(value);
                builder.append(scheduler.nowMs(), null, value, List.of());
            }
            ByteBuf batch = builder.build();
            RecordBatch.setBaseOffset(batch, batch.readerIndex(), baseOffset);
            RecordBatch.setLeaderEpoch(batch, batch.readerIndex(), epoch);
            return batch;
        }
    }

    private void truncate(Model model, SimFollower.Log log) throws IOException {
        long end = log.journal().endOffset();
        long length = end - model.startOffset;
        long offset = random.nextInt(4) == 0
                ? model.startOffset + (long) (random.nextDouble() * length)
                : Math.max(model.startOffset, end - random.nextInt(12));
        noteDurable();
        model.truncatesTo = offset;
        try {
            follower.truncate(log, offset);
        } catch (IOException notNow) {
            model.truncatesTo = Model.NONE;
            if (log.journal().isFenced() || log.journal().endOffset() != end) {
                throw notNow;
            }
            return;
        }
        model.truncateTo(offset);
        model.truncatesTo = Model.NONE;
        if (log.journal().endOffset() != model.endOffset()) {
            violations.report(
                    "LogIsSound",
                    "truncated to " + offset + ", ends at " + log.journal().endOffset() + " instead of "
                            + model.endOffset());
        }
    }

    private void reset(Model model, SimFollower.Log log) throws IOException {
        if (random.nextInt(4) > 0) {
            return;
        }
        long offset = log.journal().endOffset() + 1 + random.nextInt(100);
        model.resetsTo = offset;
        log.journal().resetTo(offset);
        model.resetTo(offset);
        model.resetsTo = Model.NONE;
    }

    /** Compares a log with what it was before the crash. */
    private void check(int index, CrashKind crash) throws IOException {
        Model model = models.get(index);
        Journal journal = follower.logs().get(index).journal();
        String log = "log " + index + " after " + crash;
        if (model.resetsTo != Model.NONE && journal.startOffset() == model.resetsTo) {
            model.resetTo(model.resetsTo);
        }
        if (journal.startOffset() != model.startOffset) {
            violations.report(
                    "LogIsSound", log + " begins at " + journal.startOffset() + " instead of " + model.startOffset);
            return;
        }
        List<Batch> found = read(journal);
        for (int i = 0; i < found.size(); i++) {
            if (i >= model.batches.size() || !found.get(i).equals(model.batches.get(i))) {
                violations.report(
                        model.removed.contains(found.get(i)) ? "NothingTruncatedComesBack" : "LogIsSound",
                        log + " has " + found.get(i) + " instead of "
                                + (i < model.batches.size() ? model.batches.get(i) : "nothing"));
                return;
            }
        }
        long end = found.isEmpty()
                ? model.startOffset
                : found.get(found.size() - 1).nextOffset();
        if (end < model.keptOffset(crash)) {
            violations.report(
                    "NothingAcknowledgedIsLost",
                    log + " ends at " + end + " instead of " + model.keptOffset(crash) + ", truncates to "
                            + model.truncatesTo);
        }
        model.truncatesTo = Model.NONE;
        model.resetsTo = Model.NONE;
        model.truncateTo(end);
        model.writtenOffset = end;
        model.durableOffset = end;
    }

    private static List<Batch> read(Journal journal) throws IOException {
        List<Batch> found = new ArrayList<>();
        long next = journal.startOffset();
        while (next < journal.writtenOffset()) {
            ByteBuf bytes =
                    journal.read(next, Long.MAX_VALUE, 1_000, true).load().readFully(UnpooledByteBufAllocator.DEFAULT);
            for (int at = 0; at < bytes.readableBytes(); at += RecordBatch.sizeBytes(bytes, at)) {
                found.add(batchAt(bytes, at));
                next = RecordBatch.nextOffset(bytes, at);
            }
            boolean empty = !bytes.isReadable();
            bytes.release();
            if (empty) {
                break;
            }
        }
        return found;
    }

    private static Batch batchAt(ByteBuf bytes, int at) {
        int crc = Crc32c.compute(
                bytes, at + RecordBatch.ATTRIBUTES, RecordBatch.sizeBytes(bytes, at) - RecordBatch.ATTRIBUTES);
        return new Batch(
                RecordBatch.baseOffset(bytes, at),
                RecordBatch.nextOffset(bytes, at),
                RecordBatch.leaderEpoch(bytes, at),
                crc);
    }

    @Override
    public void onSync() {}

    @Override
    public void onSlow(long ms) {}

    @Override
    public void onFailedSync() {}

    @Override
    public void onCrash() {
        scheduler.stop();
    }

    @Override
    public String bootId() {
        return "boot";
    }
}
