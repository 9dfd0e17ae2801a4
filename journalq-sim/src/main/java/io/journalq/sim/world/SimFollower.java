package io.journalq.sim.world;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.JournalWrites;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.flush.WalSyncers;
import io.journalq.server.shard.flush.WalSyncers.WalLoopBuffers;
import io.journalq.sim.disk.SimDisk;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The logs of a follower in delivery mode {@code consistent}, in one life from a start to a crash or a stop. They share
 * write-ahead files. Batches arrive as from leaders, and logs are truncated and reset.
 */
public final class SimFollower {
    private static final long FLUSH_INTERVAL_MS = 200;
    private static final long LONGEST_POOL_DELAY_MS = 5;

    private final LoopCycle cycle;
    private final WalSyncers walSyncers;
    private final List<Log> logs = new ArrayList<>();
    private final Interference interference;

    /** The log of one partition. */
    public static final class Log {
        private final Journal journal;
        private final PartitionDurability durability;

        private Log(Journal journal, PartitionDurability durability) {
            this.journal = journal;
            this.durability = durability;
        }

        public Journal journal() {
            return journal;
        }

        /** Everything before this offset survives a power loss. */
        public long durableOffset() {
            return durability.durableOffset();
        }
    }

    /** Leaves the write-ahead files as they are when a log is truncated. */
    private static final class NoCutRecord implements JournalWrites {
        @Override
        public void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches) {}

        @Override
        public void beforeTruncation(long offset) {}
    }

    /** Is informed of nothing: the simulation asks for the durable offset. */
    private static final class NoListener implements PartitionDurability.Listener {
        @Override
        public void onDurable(long offset) {}

        @Override
        public void onFlushFailure(IOException failure) {}
    }

    private SimFollower(LoopCycle cycle, WalSyncers walSyncers, Interference interference) {
        this.cycle = cycle;
        this.walSyncers = walSyncers;
        this.interference = interference;
    }

    /**
     * The environment of a follower.
     *
     * @param directory data directory
     * @param count number of partitions
     * @param writeAheadBytes room for write-ahead files
     */
    public record Plan(SimDisk disk, Path directory, int count, JournalConfig config, long writeAheadBytes) {}

    /** Replays the write-ahead files and opens the logs. */
    public static SimFollower start(Plan plan, SimProcess process, Random random, Interference interference)
            throws IOException {
        SimLoop loop = new SimLoop(process, random, new SimLoop.Running());
        LoopCycle cycle = LoopCycle.cycles(List.of(loop)).get(0);
        SimExecutor pool = new SimExecutor(process, Scheduler.Kind.POOL, LONGEST_POOL_DELAY_MS);
        WalReplay.run(plan.disk(), plan.directory());
        WalSyncers walSyncers = new WalSyncers(
                plan.disk(), List.of(plan.directory()), plan.writeAheadBytes(), 1, pool, process.clock());
        SimFollower follower = new SimFollower(cycle, walSyncers, interference);
        Flusher flusher = new Flusher(cycle, pool);
        WalLoopBuffers buffers = new WalLoopBuffers(walSyncers, cycle);
        for (int i = 0; i < plan.count(); i++) {
            Journal journal = Journal.open(plan.disk(), plan.directory().resolve("t-" + i), plan.config(), pool);
            PartitionDurability durability =
                    new PartitionDurability(new TopicPartition("t", i), journal, flusher, buffers);
            durability.reportTo(new NoListener());
            durability.follow(true, FLUSH_INTERVAL_MS);
            follower.logs.add(new Log(journal, durability));
        }
        return follower;
    }

    public List<Log> logs() {
        return logs;
    }

    /** Runs {@code work} on the loop of the logs. */
    public void onLoop(Runnable work) {
        cycle.loop().execute(work);
    }

    /** Writes what was appended to a log. On the loop. */
    public void write(Log log) throws IOException {
        log.journal.write();
        log.durability.onWritten();
    }

    /** Truncates a log. On the loop, where nothing else uses the log meanwhile. */
    public void truncate(Log log, long offset) throws IOException {
        if (interference.recordsCuts()) {
            log.journal.truncateTo(offset);
            return;
        }
        log.journal.setObserver(new NoCutRecord());
        try {
            log.journal.truncateTo(offset);
        } finally {
            changeMode(log);
        }
    }

    /** Changes the delivery mode, and changes it back. On the loop. */
    public void changeMode(Log log) {
        log.durability.follow(false, FLUSH_INTERVAL_MS);
        log.durability.follow(true, FLUSH_INTERVAL_MS);
    }

    /** Stops as a broker does. */
    public void stop() throws IOException {
        for (Log log : logs) {
            log.durability.close();
            log.journal.close();
        }
        walSyncers.close();
    }
}
