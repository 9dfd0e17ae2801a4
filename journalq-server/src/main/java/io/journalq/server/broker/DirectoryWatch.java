package io.journalq.server.broker;

import io.journalq.server.folder.DataDirectories;
import io.journalq.server.loop.Loop;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks every second whether the data directories are still those that the broker was started with. Open files take writes
 * and syncs long after their directory is gone, so writing alone would not tell. A directory that is lost stays offline
 * until the broker is restarted. The loop keeps the time, the check is made where it may block; what is known can be asked
 * on any thread.
 */
final class DirectoryWatch {
    /** A directory is offline at most this long, and the check's own time, after it was lost. */
    static final long INTERVAL_MS = 1_000;

    private static final Logger log = LoggerFactory.getLogger(DirectoryWatch.class);

    private final DataDirectories directories;
    private final int directoryCount;
    private final Loop loop;
    private final Executor blockingPool;
    private final BiConsumer<Path, String> onLost;
    private final Map<Path, String> lost = new ConcurrentSkipListMap<>();
    private volatile boolean stopped;

    /**
     * Prepares a watch; {@link #start} begins.
     *
     * @param onLost takes a directory's path and, in words, what happened to it, on a thread that may block; returns when
     *     nothing more is acknowledged
     */
    DirectoryWatch(
            DataDirectories directories,
            int directoryCount,
            Loop loop,
            Executor blockingPool,
            BiConsumer<Path, String> onLost) {
        this.directories = directories;
        this.directoryCount = directoryCount;
        this.loop = loop;
        this.blockingPool = blockingPool;
        this.onLost = onLost;
    }

    /** Begins; the first check is after the interval. */
    void start() {
        if (!stopped) {
            try {
                loop.schedule(this::tick, INTERVAL_MS);
            } catch (RejectedExecutionException stopping) {
                log.debug("stopping, data directories are not checked any more");
            }
        }
    }

    /** Makes no further check. */
    void stop() {
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
            for (Path directory : directories.identified()) {
                if (!stopped && !lost.containsKey(directory)) {
                    check(directory);
                }
            }
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
            lost.put(directory, reason);
            onLost.accept(directory, reason);
        }
    }

    /** The directories that are offline, and why. */
    Map<Path, String> lost() {
        return lost.isEmpty() ? Map.of() : new TreeMap<>(lost);
    }

    int lostCount() {
        return lost.size();
    }

    /** Whether no directory is left that takes records. */
    boolean isAllLost() {
        return lost.size() == directoryCount;
    }
}
