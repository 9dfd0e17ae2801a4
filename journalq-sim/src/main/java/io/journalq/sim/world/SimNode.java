package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.CrashKind;
import io.journalq.sim.disk.SimDisk.Damage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The machine of one broker: its disk, its clock, and the process that runs on it. The process begins with the machine,
 * and again after each crash.
 */
public final class SimNode implements SimDisk.Surroundings {
    private final int id;
    private final Scheduler scheduler;
    private final Random random;
    private final SimClock clock;
    private final SimDisk disk;
    private final Runnable onCrash;
    private SimProcess process;
    /** Number of power losses so far. */
    private int boots;

    private long slowNanos;
    private long firstFailedSyncMs = Long.MAX_VALUE;

    /**
     * Creates a machine with an empty disk.
     *
     * @param id the node id of its broker
     * @param onCrash called when the process crashes in the middle of a call of the disk
     */
    public SimNode(int id, Scheduler scheduler, Random random, SimClock clock, Runnable onCrash) {
        this.id = id;
        this.scheduler = scheduler;
        this.random = random;
        this.clock = clock;
        this.disk = new SimDisk(random, this);
        this.onCrash = onCrash;
        this.process = scheduler.newProcess(clock);
    }

    public int id() {
        return id;
    }

    public SimDisk disk() {
        return disk;
    }

    public SimClock clock() {
        return clock;
    }

    /** The current process. */
    public SimProcess process() {
        return process;
    }

    Random random() {
        return random;
    }

    /** The process is killed. It does nothing more, and every call of the disk fails until {@link #restart}. */
    public void crash() {
        disk.die();
        process.stop();
        scheduler.remove(process);
    }

    /**
     * Begins another process after a crash.
     *
     * @return bits that flipped on the disk meanwhile
     */
    public List<Damage> restart(CrashKind kind) {
        boots += kind == CrashKind.POWER_LOSS ? 1 : 0;
        process = scheduler.newProcess(clock);
        return disk.restart(kind);
    }

    /** How long calls of the disk have taken since {@link #forgetSlowness}. */
    public long slowMs() {
        return TimeUnit.NANOSECONDS.toMillis(slowNanos);
    }

    /** Measures {@link #slowMs} from now on. */
    public void forgetSlowness() {
        slowNanos = 0;
    }

    /** When an fsync failed for the first time since {@link #forgetFailedSyncs}; the largest number if none has. */
    public long firstFailedSyncMs() {
        return firstFailedSyncMs;
    }

    /** Whether an fsync has failed since {@link #forgetFailedSyncs}. */
    public boolean hasFailedSyncs() {
        return firstFailedSyncMs != Long.MAX_VALUE;
    }

    /** Notes failed fsyncs from now on. */
    public void forgetFailedSyncs() {
        firstFailedSyncMs = Long.MAX_VALUE;
    }

    @Override
    public void onSync() {
        long before = scheduler.nowNanos();
        scheduler.yieldToLoops();
        slowNanos += scheduler.nowNanos() - before;
    }

    @Override
    public void onSlow(long ms) {
        slowNanos += TimeUnit.MILLISECONDS.toNanos(ms);
        scheduler.spend(ms);
    }

    @Override
    public void onFailedSync() {
        firstFailedSyncMs = Math.min(firstFailedSyncMs, scheduler.nowMs());
    }

    @Override
    public void onCrash() {
        onCrash.run();
    }

    @Override
    public String bootId() {
        return UUID.nameUUIDFromBytes((id + " " + boots).getBytes(StandardCharsets.US_ASCII))
                .toString();
    }
}
