package io.journalq.server.directory;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data directories of one broker. Each directory has an identity ({@link DirectoryIdentity}), which is written once
 * the metadata has a cluster id. A directory with an identity therefore had durable metadata at some time. Older
 * releases wrote no identity; their directories get one at the first start.
 *
 * <p>{@link #lossOf}, {@link #usableBytes} and {@link #idOf} can be called on any thread once the broker runs, everything
 * else only on the thread that starts the broker. All methods block.
 */
public final class DataDirectories {
    private static final Logger log = LoggerFactory.getLogger(DataDirectories.class);

    /** The name of a partition's directory: the id of the topic and the number of the partition. */
    private static final Pattern PARTITION = Pattern.compile("[A-Za-z0-9_-]{22}-\\d{1,10}");

    private static final int MOST_NAMES_LOGGED = 10;

    private final FileStore store;
    private final List<String> metadataNames;
    private final int nodeId;
    private final List<Found> all = new ArrayList<>();

    /** A data directory and its contents at the time when it was opened. */
    private static final class Found {
        private final Path path;
        private final boolean hasMetadata;
        private List<String> partitions;
        private volatile DirectoryIdentity identity;

        Found(Path path, boolean hasMetadata, List<String> partitions, DirectoryIdentity identity) {
            this.path = path;
            this.hasMetadata = hasMetadata;
            this.partitions = partitions;
            this.identity = identity;
        }
    }

    private DataDirectories(FileStore store, List<String> metadataNames, int nodeId) {
        this.store = store;
        this.metadataNames = metadataNames;
        this.nodeId = nodeId;
    }

    /**
     * Examines the directories and creates the missing ones.
     *
     * @param paths the data directories; the first one holds the metadata
     * @param metadataNames names of the directories with the metadata, the one to name to operators first. Each of them
     *     is sufficient: a voter that was killed while it replaced its journal has only that of the quorum
     * @throws IOException when the directories do not belong together or belong to another broker, or when their
     *     metadata is missing. The message is one line that says what to do. Nothing has been changed in that case
     */
    public static DataDirectories open(FileStore store, List<Path> paths, List<String> metadataNames, int nodeId)
            throws IOException {
        DataDirectories directories = new DataDirectories(store, metadataNames, nodeId);
        for (Path path : paths) {
            directories.all.add(directories.look(path));
        }
        directories.check();
        for (Found one : directories.all) {
            if (one.identity == null) {
                store.createDurableDirectories(one.path);
            }
        }
        return directories;
    }

    private Found look(Path path) throws IOException {
        List<String> names = store.list(path);
        Path file = path.resolve(DirectoryIdentity.FILE_NAME);
        boolean hasMetadata = false;
        for (String name : metadataNames) {
            hasMetadata |=
                    names.contains(name) && !store.list(path.resolve(name)).isEmpty();
        }
        return new Found(
                path,
                hasMetadata,
                names.stream().filter(name -> PARTITION.matcher(name).matches()).toList(),
                names.contains(DirectoryIdentity.FILE_NAME)
                        ? DirectoryIdentity.decode(file, store.read(file, DirectoryIdentity.MAX_FILE_BYTES))
                        : null);
    }

    private void check() throws IOException {
        for (int i = 0; i < all.size(); i++) {
            Found one = all.get(i);
            if (one.identity != null) {
                checkNode(one);
                for (Found before : all.subList(0, i)) {
                    checkPair(before, one);
                }
            }
        }
        if (!all.get(0).hasMetadata && isMetadataExpected()) {
            throw missingMetadata();
        }
        if (all.get(0).identity != null) {
            checkComplete(all.get(0));
        }
    }

    private void checkNode(Found one) throws IOException {
        if (one.identity.nodeId() != nodeId) {
            throw new IOException("the data directory " + one.path + " belongs to node " + one.identity.nodeId()
                    + ", and this is node " + nodeId + "; set node.id=" + one.identity.nodeId()
                    + ", or another directory in data.directories");
        }
    }

    private static void checkPair(Found one, Found other) throws IOException {
        if (one.identity == null) {
            return;
        }
        if (!one.identity.clusterId().equals(other.identity.clusterId())) {
            throw new IOException("the data directory " + one.path + " belongs to cluster " + one.identity.clusterId()
                    + ", and " + other.path + " to cluster " + other.identity.clusterId()
                    + "; name the directories of one cluster in data.directories");
        }
        if (one.identity.directoryId().equals(other.identity.directoryId())) {
            throw new IOException("the data directories " + one.path + " and " + other.path
                    + " have the same identity, so one is a copy of the other; name only one of them in"
                    + " data.directories");
        }
    }

    /**
     * Checks that every directory in the list of the first one is present, and that no unidentified directory adds
     * partitions.
     */
    private void checkComplete(Found first) throws IOException {
        Path file = first.path.resolve(DirectoryIdentity.FILE_NAME);
        for (Uuid known : first.identity.directories()) {
            if (all.stream()
                    .noneMatch(one ->
                            one.identity != null && one.identity.directoryId().equals(known))) {
                throw new IOException("none of the data directories has the id " + known + ", which " + file
                        + " lists; mount or restore that directory and name it in data.directories or, to"
                        + " give up its data, delete "
                        + file + ": the next start writes it again");
            }
        }
        for (Found one : all) {
            if (one.identity == null && !one.partitions.isEmpty()) {
                throw new IOException("the data directory " + one.path + " holds partitions but no "
                        + DirectoryIdentity.FILE_NAME
                        + ", so it may belong to another broker; remove it from data.directories or, if it"
                        + " belongs to this broker, delete "
                        + file
                        + ": the next start writes both again");
            }
        }
    }

    /**
     * Whether the directories hold the data of an existing cluster, so that a start without metadata must not create a
     * new one.
     */
    private boolean isMetadataExpected() {
        return all.stream().anyMatch(one -> one.identity != null || !one.partitions.isEmpty());
    }

    private IOException missingMetadata() {
        Path wanted = all.get(0).path.resolve(metadataNames.get(0));
        for (Found one : all) {
            if (one.hasMetadata && one != all.get(0)) {
                return new IOException("the metadata is not in the first data directory, but in " + one.path
                        + "; name that one first in data.directories");
            }
        }
        Found left = all.stream()
                .filter(one -> one.identity != null || !one.partitions.isEmpty())
                .findFirst()
                .orElseThrow();
        return new IOException("the metadata in " + wanted + " is missing, and " + left.path + " holds "
                + (left.identity == null ? "" : "the identity of cluster " + left.identity.clusterId() + " and ")
                + left.partitions.size() + " partition directories; restore " + wanted
                + " from a backup, or set an empty directory in data.directories to start a new cluster");
    }

    /** Whether {@code directory} held partitions when it was opened. Valid until {@link #reportOrphans} is called. */
    public boolean hasPartitions(Path directory) {
        return all.stream().anyMatch(one -> one.path.equals(directory) && !one.partitions.isEmpty());
    }

    /**
     * Compares the directories with the metadata. Called before the first write to the metadata.
     *
     * @param clusterId the cluster id in the metadata; empty when there is none yet
     * @throws IOException when the metadata is missing or belongs to another cluster
     */
    public void checkCluster(String clusterId) throws IOException {
        if (clusterId.isEmpty() && isMetadataExpected()) {
            throw missingMetadata();
        }
        for (Found one : all) {
            if (one.identity != null && !one.identity.clusterId().equals(clusterId)) {
                throw new IOException("the data directory " + one.path + " belongs to cluster "
                        + one.identity.clusterId() + ", and the metadata in "
                        + all.get(0).path.resolve(metadataNames.get(0)) + " to cluster " + clusterId
                        + "; restore the metadata of that cluster from a backup, or remove the directory from"
                        + " data.directories");
            }
        }
    }

    /**
     * Checks that a broker with these directories can join a cluster.
     *
     * @throws IOException when a directory belongs to another cluster. The message is one line that says what to do
     */
    public void checkJoins(String clusterId) throws IOException {
        for (Found one : all) {
            if (one.identity != null && !one.identity.clusterId().equals(clusterId)) {
                throw new IOException("the data directory " + one.path + " belongs to cluster "
                        + one.identity.clusterId() + ", and the brokers in cluster.join to cluster " + clusterId
                        + "; correct cluster.join, or set an empty directory in data.directories");
            }
        }
    }

    /**
     * Gives an identity to every directory that has none. The first directory, which lists the others, is written last.
     * If a write fails, it is logged and repeated at the next start, because a broker must be able to start on a full
     * disk.
     *
     * @param clusterId the cluster id, which is durable in the metadata
     * @param ids supplies unique ids
     */
    public void identify(String clusterId, Supplier<Uuid> ids) {
        for (Found one : all.subList(1, all.size())) {
            if (one.identity == null) {
                write(one, new DirectoryIdentity(clusterId, nodeId, ids.get(), List.of()));
            }
        }
        Found first = all.get(0);
        Uuid id = first.identity == null ? ids.get() : first.identity.directoryId();
        List<Uuid> directories = new ArrayList<>(List.of(id));
        for (Found one : all.subList(1, all.size())) {
            if (one.identity != null) {
                directories.add(one.identity.directoryId());
            }
        }
        DirectoryIdentity wanted = new DirectoryIdentity(clusterId, nodeId, id, directories);
        if (!wanted.equals(first.identity)) {
            write(first, wanted);
        }
    }

    private void write(Found one, DirectoryIdentity identity) {
        try {
            store.replace(one.path.resolve(DirectoryIdentity.FILE_NAME), ByteBuffer.wrap(identity.encode()), true);
            one.identity = identity;
        } catch (IOException failure) {
            log.warn(
                    "cannot write the identity of a data directory, will try again at the next start:"
                            + " directory={} reason=\"{}\"",
                    one.path,
                    failure.toString());
        }
    }

    /** The names of all partition directories. Valid until {@link #reportOrphans} is called. */
    public Set<String> partitionNames() {
        Set<String> names = new HashSet<>();
        all.forEach(one -> names.addAll(one.partitions));
        return names;
    }

    /** Logs the partition directories that belong to no topic. They are neither served nor deleted. Called once. */
    public void reportOrphans(Predicate<String> isKnown) {
        for (Found one : all) {
            List<String> orphans =
                    one.partitions.stream().filter(isKnown.negate()).toList();
            one.partitions = List.of();
            if (!orphans.isEmpty()) {
                log.warn(
                        "partition directories belong to no topic; they are neither served nor deleted:"
                                + " directory={} count={} names={}",
                        one.path,
                        orphans.size(),
                        orphans.subList(0, Math.min(MOST_NAMES_LOGGED, orphans.size())));
            }
        }
    }

    /** The ids of the directories that have an identity. */
    public List<Uuid> ids() {
        return all.stream()
                .filter(one -> one.identity != null)
                .map(one -> one.identity.directoryId())
                .toList();
    }

    /** The id of the first directory; null if its identity could not be written. */
    public Uuid firstId() {
        DirectoryIdentity first = all.get(0).identity;
        return first == null ? null : first.directoryId();
    }

    /** The directories that have an identity, so that their loss can be detected. */
    public List<Path> identified() {
        return all.stream()
                .filter(one -> one.identity != null)
                .map(one -> one.path)
                .toList();
    }

    /** The id of a directory, one of {@link #identified}. */
    public Uuid idOf(Path directory) {
        return find(directory).identity.directoryId();
    }

    private Found find(Path directory) {
        return all.stream()
                .filter(found -> found.path.equals(directory))
                .findFirst()
                .orElseThrow();
    }

    /** The usable space of a directory in bytes; {@link Long#MAX_VALUE} if it cannot be read. */
    public long usableBytes(Path directory) {
        try {
            return store.usableBytes(directory);
        } catch (IOException unknown) {
            log.debug("cannot read the free space: directory={} reason=\"{}\"", directory, unknown.toString());
            return Long.MAX_VALUE;
        }
    }

    /**
     * Checks whether {@code directory}, one of {@link #identified}, is still the one that the broker was started with.
     * Returns the reason if it is not, and null if it is or if the check itself failed.
     */
    public String lossOf(Path directory) {
        Found one = find(directory);
        Path file = directory.resolve(DirectoryIdentity.FILE_NAME);
        try {
            byte[] content = store.read(file, DirectoryIdentity.MAX_FILE_BYTES);
            if (!Arrays.equals(content, one.identity.encode())) {
                return "it was replaced: " + DirectoryIdentity.FILE_NAME + " is another's";
            }
            return isWritable(file) || !store.isReadOnly(directory) ? null : "its file system is read-only";
        } catch (NoSuchFileException gone) {
            return "it was removed, emptied or unmounted: " + DirectoryIdentity.FILE_NAME + " is gone";
        } catch (AccessDeniedException denied) {
            return "it cannot be read: " + denied;
        } catch (IOException unknown) {
            // For example, too many files are open. If the directory is lost, its writes fail and are refused one by
            // one.
            log.debug("cannot check a data directory: directory={} reason=\"{}\"", directory, unknown.toString());
            return null;
        }
    }

    private boolean isWritable(Path file) {
        try (LogFile opened = store.open(file, false)) {
            return opened.sizeBytes() >= 0;
        } catch (IOException refused) {
            return false;
        }
    }
}
