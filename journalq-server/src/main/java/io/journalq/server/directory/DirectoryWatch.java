package io.journalq.server.directory;

import io.journalq.common.id.Uuid;
import io.journalq.server.loop.Loop;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks every second whether the data directories are still those that the broker was started with. Writes to and
 * fsyncs of open files succeed long after their directory is gone, so they cannot detect the loss. A lost directory
 * stays offline until the broker is restarted. A directory without room is one until twice as much space is free.
 *
 * <p>The loop schedules the checks, and the blocking pool runs them. Results can be read on any thread.
 */
public final class DirectoryWatch {
    /** A lost directory is offline after at most this time plus the duration of a check. */
    public static final long INTERVAL_MS = 1_000;

    private static final Logger log = LoggerFactory.getLogger(DirectoryWatch.class);

    private final DataDirectories directories;
    private final int directoryCount;
    private final long minFreeBytes;
    private final Loop loop;
    private final Executor blockingPool;
    private final BiConsumer<Path, String> onLost;

    /** Replaced as a whole, so that its size fits its entries. Written by one check at a time. */
    private volatile Map<Path, String> lost = Map.of();

    /** The ids of the directories without room. Replaced as a whole, by one check at a time. */
    private volatile Map<Path, Uuid> full = Map.of();

    private volatile boolean stopped;

    /**
     * Creates a watch; {@link #start} starts it.
     *
     * @param minFreeBytes a directory has no room if its file system has less usable space
     * @param onLost receives the path of a directory and the reason, on a thread that may block; after it returns,
     *     nothing more is acknowledged there
     */
    public DirectoryWatch(
            DataDirectories directories,
            int directoryCount,
            long minFreeBytes,
            Loop loop,
            Executor blockingPool,
            BiConsumer<Path, String> onLost) {
        this.directories = directories;
        this.directoryCount = directoryCount;
        this.minFreeBytes = minFreeBytes;
        this.loop = loop;
        this.blockingPool = blockingPool;
        this.onLost = onLost;
    }

    /** Starts the checks. The first one is made after the interval. */
    public void start() {
        if (!stopped) {
            try {
                loop.schedule(this::tick, INTERVAL_MS);
            } catch (RejectedExecutionException stopping) {
                log.debug("stopping, no further checks of data directories");
            }
        }
    }

    /** Stops the checks. */
    public void stop() {
        stopped = true;
    }

    private void tick() {
        try {
            blockingPool.execute(this::checkAll);
        } catch (RejectedExecutionException busy) {
            start();
        }
    }

    private void checkAll() {
        try {
            Map<Path, Uuid> nowFull = new TreeMap<>();
            for (Path directory : directories.identified()) {
                if (!stopped && !lost.containsKey(directory)) {
                    check(directory);
                    if (isFull(directory)) {
                        nowFull.put(directory, directories.idOf(directory));
                    }
                }
            }
            full = Collections.unmodifiableMap(nowFull);
        } finally {
            start();
        }
    }

    private void check(Path directory) {
        String reason = directories.lossOf(directory);
        if (reason != null) {
            log.error(
                    "data directory is offline until the broker is restarted: directory={} reason=\"{}\"",
                    directory,
                    reason);
            onLost.accept(directory, reason);
            Map<Path, String> more = new TreeMap<>(lost);
            more.put(directory, reason);
            lost = Collections.unmodifiableMap(more);
        }
    }

    private boolean isFull(Path directory) {
        long freeBytes = directories.usableBytes(directory);
        boolean before = full.containsKey(directory);
        boolean now = freeBytes < (before ? 2 * minFreeBytes : minFreeBytes);
        if (now && !before) {
            log.warn("a data directory has no room: directory={} freeBytes={}", directory, freeBytes);
        } else if (before && !now) {
            log.info("a data directory has room again: directory={} freeBytes={}", directory, freeBytes);
        }
        return now;
    }

    /** The ids of the directories that have no room, but are not lost. */
    public List<Uuid> full() {
        return List.copyOf(full.values());
    }

    /** The offline directories, with reasons. Nothing more is acknowledged in any of them. */
    public Map<Path, String> lost() {
        return lost;
    }

    public int lostCount() {
        return lost.size();
    }

    /** Whether every directory is offline. */
    public boolean isAllLost() {
        return lost.size() == directoryCount;
    }
}
