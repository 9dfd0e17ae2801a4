package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.journal.DeletedJournal;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalSnapshot;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.segment.RecoveryRules;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.ProducerDedup;
import io.journalq.server.producerstate.ProducerSnapshot;
import io.journalq.server.replication.ReplicaMachine;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.append.PartitionProducers;
import io.journalq.server.shard.append.ProducerReplay;
import io.journalq.server.shard.flush.WalSyncers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds partitions on disk and opens them. A partition's directory is named by its topic's id and its number, never by
 * a name from the wire. It stays in the data directory in which it was created. Any thread; every method blocks.
 */
public final class PartitionFiles {
    private static final Logger log = LoggerFactory.getLogger(PartitionFiles.class);
    /** In the directory of a replica that has lost acknowledged records, until the controller knows that. */
    private static final String LOSS_FILE = "lost";

    private static final byte[] LOSS = "acknowledged records are missing\n".getBytes(StandardCharsets.US_ASCII);
    /**
     * In the directory of a replica from its creation on: without a record, it has no other file until a clean stop. If
     * it is the only replica later, its log may still be a copy.
     */
    private static final String CREATED_FILE = "created";

    private final FileStore store;
    private final List<Path> dataDirectories;
    private final Executor background;
    private final Clock clock;
    private final Map<Path, LastEnd> lastEnds;
    private final WalSyncers walSyncers;
    private final Set<Path> offline = ConcurrentHashMap.newKeySet();
    /** Data directories in which names may not be durable: at first all, because a killed process may have created some. */
    private final Set<Path> unsynced;

    /**
     * Opens nothing yet.
     *
     * @param lastEnds how the last run ended, by data directory
     * @param walSyncers the write-ahead files, which may have writes of partitions that cannot be opened again
     */
    public PartitionFiles(
            FileStore store,
            List<Path> dataDirectories,
            Executor background,
            Clock clock,
            Map<Path, LastEnd> lastEnds,
            WalSyncers walSyncers) {
        this.lastEnds = Map.copyOf(lastEnds);
        this.walSyncers = walSyncers;
        this.store = store;
        this.dataDirectories = List.copyOf(dataDirectories);
        this.unsynced = new HashSet<>(dataDirectories);
        this.background = background;
        this.clock = clock;
    }

    /**
     * Creates the missing directories of partitions that are opened next. One sync makes all new names in a data directory
     * durable, because a sync takes milliseconds on many disks. What fails here is tried again by {@link #open}, which
     * reports it. Where the write-ahead files may have writes of an earlier replica, only that creates the directory.
     *
     * @param partitions numbers by topic id
     */
    public void createDirectories(Map<Uuid, List<Integer>> partitions) {
        try {
            List<Path> directories = new ArrayList<>();
            for (Map.Entry<Uuid, List<Integer>> topic : partitions.entrySet()) {
                for (int partition : topic.getValue()) {
                    Path directory = directory(topic.getKey(), partition);
                    // A start after a crash writes to a directory that exists. Where none does, no writes can be added.
                    if (!store.isDirectory(directory) && !walSyncers.mayHold(directory)) {
                        directories.add(directory);
                    }
                }
            }
            createDurable(directories);
        } catch (IOException failure) {
            log.debug("cannot create directories of partitions together", failure);
        }
    }

    /** Creates missing directories of partitions, and makes their names durable. */
    private synchronized void createDurable(List<Path> directories) throws IOException {
        Set<Path> parents = new HashSet<>();
        for (Path directory : directories) {
            parents.add(directory.getParent());
            if (!store.isDirectory(directory)) {
                unsynced.add(directory.getParent());
                store.createDirectories(directory);
            }
        }
        for (Path parent : parents) {
            if (unsynced.contains(parent)) {
                store.syncDirectory(parent);
                unsynced.remove(parent);
            }
        }
    }

    /**
     * Opens a partition, and creates it if it does not exist. Replays the producers' state up to its end.
     *
     * @param alone whether it has no other replica, so that everything that was recovered is final
     * @throws WritesNotVoidException if nothing was opened, because it may be possible soon
     */
    public RecoveredPartition open(
            TopicPartition name, Uuid topicId, PartitionSettings settings, int leaderEpoch, boolean alone)
            throws IOException {
        Path directory = directory(topicId, name.partition());
        DeliveryMode mode = settings.append().deliveryMode();
        boolean mayHaveGaps = settings.journal().compaction().enabled()
                && (!alone || store.list(directory).contains(CREATED_FILE));
        // In mode consistent, this replica can lead after a power loss, so it keeps what may be on the disk nowhere
        // else.
        RecoveryRules rules = new RecoveryRules(!alone && mode != DeliveryMode.CONSISTENT, mayHaveGaps);
        if (walSyncers.mayHold(directory) && isEmpty(directory)) {
            // An earlier replica was deleted while this was not possible.
            forgetWrites(directory);
        }
        boolean isNew = !alone && isEmpty(directory);
        createDurable(List.of(directory));
        Journal journal = Journal.open(store, directory, settings.journal(), leaderEpoch, rules, background);
        try {
            if (isNew) {
                store.open(directory.resolve(CREATED_FILE), true).close();
            }
            ReplicaMachine replica =
                    new ReplicaMachine(journal.endOffset(), alone ? journal.endOffset() : journal.highWatermark());
            PartitionTransactions transactions = recoverProducers(name, journal, replica.highWatermark());
            if (mayHaveLost(directory, mode)) {
                transactions.producers().onPossibleLoss(journal.endOffset());
            }
            return new RecoveredPartition(topicId, name, journal, replica, transactions);
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            journal.close();
            throw failure;
        }
    }

    /** Whether there is no journal in a directory. */
    private boolean isEmpty(Path directory) throws IOException {
        return Set.of(LOSS_FILE).containsAll(store.list(directory));
    }

    /**
     * Looks for a loss before a partition is opened. A loss is noted, so that it is found again by later processes, until
     * {@link #forgetLoss}.
     *
     * @param isExpected whether there must be files of it
     * @return whether there are none, or those of two replicas, or an earlier loss is noted
     */
    public boolean findLoss(TopicPartition name, Uuid topicId, boolean isExpected) throws IOException {
        List<String> names = store.list(directory(topicId, name.partition()));
        List<Path> copies = copies(topicId, name.partition());
        boolean isMissing = names.isEmpty() && isExpected;
        // The replica came back to this broker while one of the directories had failed, and the first may be the older.
        boolean isDoubled = copies.size() > 1 && isExpected;
        if (isMissing) {
            log.error("the files of a replica are missing: partition={}", name);
        } else if (isDoubled) {
            log.error(
                    "several data directories have a replica, using the first one; delete the others while the broker"
                            + " is stopped: partition={} directories={}",
                    name,
                    copies);
        }
        if (isMissing || isDoubled) {
            noteLoss(topicId, name.partition());
            return true;
        }
        return names.contains(LOSS_FILE);
    }

    /** The directories of a partition, in all usable data directories. */
    private List<Path> copies(Uuid topicId, int partition) {
        String directoryName = StoredPartition.directoryName(topicId, partition);
        return dataDirectories.size() == 1
                ? List.of()
                : usable().stream()
                        .map(one -> one.resolve(directoryName))
                        .filter(store::isDirectory)
                        .toList();
    }

    private List<Path> usable() {
        return offline.isEmpty()
                ? dataDirectories
                : dataDirectories.stream().filter(one -> !offline.contains(one)).toList();
    }

    /** Notes that a partition has lost acknowledged records. */
    public void noteLoss(Uuid topicId, int partition) throws IOException {
        Path directory = directory(topicId, partition);
        store.createDurableDirectories(directory);
        store.replace(directory.resolve(LOSS_FILE), ByteBuffer.wrap(LOSS), true);
    }

    /**
     * Deletes the files of a replica that cannot be read, so that it is opened without records.
     *
     * @param notes whether to note the loss
     */
    public void deleteUnreadable(Uuid topicId, int partition, boolean notes) throws IOException {
        Path directory = directory(topicId, partition);
        forgetWrites(directory);
        DeletedJournal.delete(store, directory);
        if (notes) {
            noteLoss(topicId, partition);
        }
    }

    /** The controller knows that a partition has lost acknowledged records. */
    public void forgetLoss(Uuid topicId, int partition) throws IOException {
        Path directory = directory(topicId, partition);
        if (store.isDirectory(directory)) {
            store.delete(directory.resolve(LOSS_FILE));
            store.syncDirectory(directory);
        }
    }

    /** Whether batches that were acknowledged in {@code mode} may be missing at the end of the partition's log. */
    private boolean mayHaveLost(Path directory, DeliveryMode mode) {
        LastEnd lastEnd = lastEnds.getOrDefault(directory.getParent(), LastEnd.CLEAN);
        return switch (mode) {
            case CONSISTENT -> false;
            case EVENTUAL -> lastEnd == LastEnd.SYSTEM_DOWN;
            case PERFORMANCE -> lastEnd != LastEnd.CLEAN;
        };
    }

    /** Stops opening and deleting partitions in a data directory. */
    public void takeOffline(Path dataDirectory) {
        offline.add(dataDirectory);
    }

    public boolean isOffline(Path dataDirectory) {
        return offline.contains(dataDirectory);
    }

    /**
     * Deletes the files of a partition that is not open. The write-ahead files may still have writes of it, until another
     * journal is created by {@link #open}.
     */
    public void delete(Uuid topicId, int partition) {
        Path directory = null;
        try {
            directory = directory(topicId, partition);
            DeletedJournal.delete(store, directory);
        } catch (IOException failure) {
            log.error("cannot delete: directory={} reason=\"{}\"", directory, failure.getMessage(), failure);
        }
    }

    /** A partition was deleted with its topic, so that no journal is created in its directory again. */
    public void forgetDeleted(Uuid topicId, int partition) {
        walSyncers.forgetDeleted(StoredPartition.directoryName(topicId, partition));
    }

    /**
     * Makes what the write-ahead files have of a closed partition void, after
     * {@link PartitionReplication#whenCuttable}. Otherwise a start after a crash would write it to another journal that
     * is created in the same directory.
     *
     * @throws WritesNotVoidException if that is not possible now
     */
    public void forgetWrites(Path directory) throws WritesNotVoidException {
        try {
            walSyncers.forgetWrites(directory);
        } catch (IOException notNow) {
            throw new WritesNotVoidException(notNow);
        }
    }

    /** What the write-ahead files have of an earlier replica cannot be made void now, such as on a full disk. */
    public static final class WritesNotVoidException extends IOException {
        private static final long serialVersionUID = 1L;

        WritesNotVoidException(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    private Path directory(Uuid topicId, int partition) throws IOException {
        List<Path> usable = usable();
        if (usable.isEmpty()) {
            throw new IOException("every data directory is offline");
        }
        List<Path> copies = copies(topicId, partition);
        if (!copies.isEmpty()) {
            return copies.get(0);
        }
        int choice = Math.floorMod(topicId.hashCode() + partition, usable.size());
        return usable.get(choice).resolve(StoredPartition.directoryName(topicId, partition));
    }

    private PartitionTransactions recoverProducers(TopicPartition name, Journal journal, long highWatermark)
            throws IOException {
        JournalSnapshot snapshot = journal.derivedState().restoreSnapshot();
        PartitionTransactions restored = snapshot == null ? null : ProducerSnapshot.decode(snapshot.state());
        if (snapshot != null && restored == null) {
            log.warn("producer snapshot is unreadable, replaying the journal instead: partition={}", name);
        }
        PartitionTransactions transactions =
                restored == null ? new PartitionTransactions(new ProducerDedup()) : restored;
        long from = restored == null ? 0 : snapshot.offset();
        // A producer's silence counts from now, because no producer could write before.
        long nowMs = clock.millis();
        ProducerReplay replay = new ProducerReplay(
                transactions,
                aborted -> journal.derivedState().addAborted(PartitionProducers.aborted(aborted)),
                () -> highWatermark);
        try (JournalSearch search = journal.search()) {
            search.forEachBatch(from, batch -> replay.onBatch(batch, 0, nowMs));
        }
        return transactions;
    }

    /**
     * A partition that was recovered from disk, ready to be hosted by a shard.
     *
     * @param name for people
     * @param journal open and recovered
     * @param replica as recovered, not led yet
     * @param transactions the state of its producers and their transactions as of the journal's end
     */
    public record RecoveredPartition(
            Uuid topicId,
            TopicPartition name,
            Journal journal,
            ReplicaMachine replica,
            PartitionTransactions transactions) {}

    /**
     * The disk usage of a partition.
     *
     * @param dataDirectory the data directory that contains it
     * @param sizeBytes size of its log files
     */
    public record StoredPartition(TopicPartition name, Path dataDirectory, long sizeBytes) {
        /** Name of a partition's directory. */
        public static String directoryName(Uuid topicId, int partition) {
            return topicId + "-" + partition;
        }
    }
}
