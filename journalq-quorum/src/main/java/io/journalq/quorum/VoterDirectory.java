package io.journalq.quorum;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;

/**
 * The files of a voter: {@code quorum/DIRECTORY_ID/CLUSTER_ID} in its first data directory. Ratis names the inner
 * directory. The names tell which voter has voted there, even if the identity of the data directory is written again.
 * Immutable.
 *
 * @param storage the directory that Ratis is given
 * @param directoryId the data directory at the time when the voter was created
 */
record VoterDirectory(Path storage, Uuid directoryId, Uuid clusterId) {
    /** The term and the index of the snapshot with which a founded quorum begins, before its first entry. */
    static final long FIRST_TERM = 0;

    static final long FIRST_INDEX = 0;

    /** Only a founder has this file: a voter that joins can have the first snapshot, too. */
    private static final String FORMATTED_FILE = "current/raft-meta";

    private static final String FOUNDER_FILE = "founder";

    /** Where Ratis keeps its log, its votes, and the file that it writes first. */
    private static final String LOG_DIRECTORY = "current";

    /** The first file, before Ratis has written it to the end and renamed it. */
    private static final String UNFINISHED_FILE = "raft-meta.tmp";

    /** Where Ratis keeps snapshots. */
    private static final String SNAPSHOT_DIRECTORY = "sm";

    /** How the name of this directory begins while Ratis replaces it with one that it has received. */
    private static final String REPLACED_PREFIX = SNAPSHOT_DIRECTORY + ".tmp";

    /** @param parent the directory of all files of the quorum */
    static VoterDirectory in(Path parent, Uuid directoryId, Uuid clusterId) {
        return new VoterDirectory(parent.resolve(directoryId.toString()), directoryId, clusterId);
    }

    /** Finds the only voter in a data directory. */
    static VoterDirectory find(FileStore store, Path dataDirectory) throws IOException {
        Path parent = dataDirectory.resolve(QuorumProvider.DIRECTORY);
        try {
            Uuid directoryId = Uuid.parse(onlyName(store, parent));
            UUID group = UUID.fromString(onlyName(store, parent.resolve(directoryId.toString())));
            return in(parent, directoryId, new Uuid(group.getMostSignificantBits(), group.getLeastSignificantBits()));
        } catch (IllegalArgumentException notAnId) {
            throw notOfAVoter(parent, notAnId);
        }
    }

    /** Whether a data directory has the files of a voter, and not only the directories for them. */
    static boolean isFormatted(FileStore store, Path dataDirectory) throws IOException {
        Path parent = dataDirectory.resolve(QuorumProvider.DIRECTORY);
        for (String storage : store.list(parent)) {
            for (String group : store.list(parent.resolve(storage))) {
                if (!isUnformatted(store, parent.resolve(storage).resolve(group))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a voter was killed before Ratis had written its first file here, or while it wrote that. */
    static boolean isUnformatted(FileStore store, Path group) throws IOException {
        return Set.of(UNFINISHED_FILE).containsAll(store.list(group.resolve(LOG_DIRECTORY)))
                && store.list(group.resolve(SNAPSHOT_DIRECTORY)).isEmpty();
    }

    /** Whether Ratis has formatted it to the end. */
    boolean isComplete(FileStore store) throws IOException {
        Path file = group().resolve(FORMATTED_FILE);
        return store.list(file.getParent()).contains(file.getFileName().toString());
    }

    /** Makes a directory durable that Ratis has formatted. */
    void sync(FileStore store) throws IOException {
        store.syncDirectory(group().resolve(FORMATTED_FILE).getParent());
        store.syncDirectory(group());
        store.syncDirectory(storage);
    }

    private static String onlyName(FileStore store, Path directory) throws IOException {
        List<String> names = store.list(directory);
        if (names.size() != 1) {
            throw notOfAVoter(directory, null);
        }
        return names.get(0);
    }

    private static IOException notOfAVoter(Path directory, Throwable cause) {
        return new IOException(
                directory + " is not the directory of one voter of a metadata quorum; restore it from a backup", cause);
    }

    /** The directory of the only group. */
    Path group() {
        return storage.resolve(QuorumMembers.groupId(clusterId).getUuid().toString());
    }

    /** Notes that this voter founds the quorum, durably. */
    void markFounder(FileStore store) throws IOException {
        store.replace(group().resolve(FOUNDER_FILE), ByteBuffer.allocate(0), true);
    }

    /** Whether this voter founded the quorum, and no later snapshots have replaced the first one. */
    boolean isFounder(FileStore store) throws IOException {
        return store.list(group()).contains(FOUNDER_FILE)
                && snapshots(store).contains(SimpleStateMachineStorage.getSnapshotFileName(FIRST_TERM, FIRST_INDEX));
    }

    /**
     * Brings the snapshots back if the voter was killed while Ratis replaced them: it renames their directory before it
     * renames the new one.
     */
    void restoreSnapshots(FileStore store) throws IOException {
        List<String> names = store.list(group());
        Optional<String> replaced =
                names.stream().filter(name -> name.startsWith(REPLACED_PREFIX)).max(Comparator.naturalOrder());
        if (replaced.isPresent() && !names.contains(SNAPSHOT_DIRECTORY)) {
            store.move(group().resolve(replaced.get()), group().resolve(SNAPSHOT_DIRECTORY));
            store.syncDirectory(group());
        }
    }

    /** Checks that there is a snapshot, because the log alone does not have what came before the quorum. */
    void checkSnapshot(FileStore store) throws IOException {
        if (!hasSnapshot(store)) {
            throw new IOException(
                    group() + " has no snapshot of the metadata; restore it from a backup of the whole data directory");
        }
    }

    boolean hasSnapshot(FileStore store) throws IOException {
        return !snapshots(store).isEmpty();
    }

    private List<String> snapshots(FileStore store) throws IOException {
        return store.list(group().resolve(SNAPSHOT_DIRECTORY)).stream()
                .filter(SimpleStateMachineStorage.SNAPSHOT_REGEX.asMatchPredicate())
                .toList();
    }
}
