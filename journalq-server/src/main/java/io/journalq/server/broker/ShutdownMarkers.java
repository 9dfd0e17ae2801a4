package io.journalq.server.broker;

import io.journalq.server.journal.ShutdownMarker;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the data directories tell about the last run of the broker, and what they will tell the next one. Used by the
 * thread that opens and closes the broker, unless a method says otherwise; blocks.
 */
final class ShutdownMarkers {
    private static final Logger log = LoggerFactory.getLogger(ShutdownMarkers.class);

    private final FileStore store;
    private final Map<Path, LastEnd> lastEnds = new LinkedHashMap<>();
    /** Nothing is written to these directories any more, because another directory may be mounted in their place. */
    private final Set<Path> offline = ConcurrentHashMap.newKeySet();

    /**
     * Reads how the last run ended.
     *
     * @param hasPartitions whether a directory holds partitions. One that does not has lost nothing
     */
    ShutdownMarkers(FileStore store, List<Path> directories, Predicate<Path> hasPartitions) {
        this.store = store;
        for (Path directory : directories) {
            lastEnds.put(
                    directory,
                    hasPartitions.test(directory) ? ShutdownMarker.lastEnd(store, directory) : LastEnd.CLEAN);
        }
    }

    /** How the last run ended, by data directory. */
    Map<Path, LastEnd> lastEnds() {
        return lastEnds;
    }

    /** Whether no system has gone down since the records were written that this broker has acknowledged. */
    boolean keepsRecords() {
        return lastEnds.entrySet().stream()
                .allMatch(last ->
                        last.getValue() == LastEnd.CLEAN || ShutdownMarker.isEverythingThere(store, last.getKey()));
    }

    /** A directory is offline, and keeps what it tells. Any thread. */
    void takeOffline(Path directory) {
        offline.add(directory);
    }

    /**
     * Notes that partitions are about to be opened. Those that follow others write before clients are served, which must
     * not count as a clean stop if the system goes down then.
     *
     * <p>If that cannot be noted, {@link #writeRunning} tries again. A directory that was offline already would not be
     * searched for its partitions, and they would be created in another one.
     */
    void writeOpening() {
        lastEnds.forEach((directory, lastEnd) -> {
            if (lastEnd == LastEnd.CLEAN) {
                writeRunning(directory, lastEnd, true, (failed, reason) -> log.warn("{}: {}", failed, reason));
            }
        });
    }

    /**
     * Notes that the broker is about to serve clients.
     *
     * @param recovered whether every journal was recovered
     * @param onFailure receives each directory in which that cannot be noted, and the reason
     */
    void writeRunning(BooleanSupplier recovered, BiConsumer<Path, String> onFailure) {
        lastEnds.forEach((directory, lastEnd) -> writeRunning(directory, lastEnd, recovered.getAsBoolean(), onFailure));
    }

    private void writeRunning(Path directory, LastEnd lastEnd, boolean recovered, BiConsumer<Path, String> onFailure) {
        try {
            ShutdownMarker.writeRunning(store, directory, lastEnd, recovered);
        } catch (IOException failure) {
            onFailure.accept(
                    directory, "cannot write or delete " + ShutdownMarker.FILE_NAME + ": " + failure.getMessage());
        }
    }

    /**
     * Notes that every journal is closed.
     *
     * @param served whether clients may have been served. If not, the last unclean stop still matters to returning
     *     producers, so that no clean stop is noted
     */
    void writeClean(boolean served) {
        lastEnds.forEach((directory, lastEnd) -> {
            if ((served || lastEnd == LastEnd.CLEAN) && !offline.contains(directory)) {
                ShutdownMarker.writeClean(store, directory);
            }
        });
    }
}
